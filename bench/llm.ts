import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type LoadGenerator, Server } from './children.ts';
import { type LoadRequest, post } from './load.ts';
import { milliseconds, type Row } from './row.ts';
import { median } from './statistics.ts';

const RUNS = 5;
const CALLS_IN_RUN = 300;

const TEXT = 'Where is parcel 4711? It was to arrive last week.';
const ASKED = [
  post('/v1/chat/completions', { model: 'instant', stream: true, messages: [{ role: 'user', content: TEXT }] }),
];
const PUBLISHED = [post('/api/v1/artifacts/sync', { type: 'Question', payload: { text: TEXT } })];

const config = (url: string): string => `
types:
  Reply: { schema: { type: object, required: [text], properties: { text: { type: string, minLength: 1 } } } }
agents:
  responder:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Reply }]
    engine: { kind: llm, model: bench/instant, base_url: ${url}/v1, instructions: Answer the question. }
`;

/**
 * Measures how long a sync publish through an llm agent takes, one caller, beyond calling its model directly; the model
 * answers immediately.
 */
export async function llmRow(generator: LoadGenerator, folder: string): Promise<Row> {
  const model = await Server.model(folder);
  const file = join(folder, 'llm.yaml');
  writeFileSync(file, config(model.url));
  const server = await Server.starling(folder, 'llm', { options: ['--config', file] });
  const p50 = async ({ url }: Server, requests: LoadRequest[]): Promise<number> =>
    (await generator.run({ url, requests, connections: 1, until: { requests: CALLS_IN_RUN } })).p50;
  await p50(server, PUBLISHED);
  const runs: { here: number; model: number }[] = [];
  for (let run = 0; run < RUNS; run += 1)
    runs.push({ model: await p50(model, ASKED), here: await p50(server, PUBLISHED) });
  await Promise.all([server.stop(), model.stop()]);
  const here = median(runs.map((run) => run.here));
  const asked = median(runs.map((run) => run.model));
  return {
    work: 'an llm agent whose model answers immediately, beyond the model itself: p50',
    value: here - asked,
    atLeast: 8,
    aim: 4,
    better: 'lower',
    unit: ' ms',
    measured: `${milliseconds(here)}, ${RUNS} x ${CALLS_IN_RUN} calls`,
    baseline: `the model ${milliseconds(asked)}`,
  };
}
