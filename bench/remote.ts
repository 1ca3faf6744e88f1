import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type LoadGenerator, Server } from './children.ts';
import { eventually } from './eventually.ts';
import { post } from './load.ts';
import { residentMegabytes } from './memory.ts';
import { CONNECTIONS } from './requests.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';

const AT_ONCE = 1_000;
const AGENT_TAKES_SECONDS = 1;
/** The first ones warm up what the others use. */
const WARM_ROUNDS = 2;
const ROUNDS = 5;
const LOOK_EVERY_MS = 20;

const PUBLISHED = [
  post('/api/v1/artifacts', {
    type: 'Question',
    payload: { text: 'Where is parcel 4711? It was to arrive last week.' },
  }),
];

const config = (url: string): string => `
agents:
  remote:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    engine: { kind: http, url: "${url}/", secret: a secret of the bench alone }
    concurrency: ${AT_ONCE}
`;

/**
 * Measures 1,000 parallel executions of a remote agent that takes a second: from the first publish until all have
 * finished, beyond that second.
 */
export async function remoteRows(generator: LoadGenerator, folder: string, databaseUrl?: string): Promise<Row[]> {
  const agent = await Server.remoteAgent(folder);
  const file = join(folder, 'remote.yaml');
  writeFileSync(file, config(agent.url));
  const server = await Server.starling(folder, 'remote', {
    databaseUrl,
    options: ['--config', file, '--max-concurrent-executions', String(AT_ONCE)],
  });
  const round = async (): Promise<number> => {
    const started = performance.now();
    await generator.run({
      url: server.url,
      requests: PUBLISHED,
      connections: CONNECTIONS,
      until: { requests: AT_ONCE },
    });
    await eventually(
      'every execution has finished',
      async () => ((await isIdle(server)) ? true : undefined),
      60_000,
      LOOK_EVERY_MS,
    );
    return (performance.now() - started) / 1_000 - AGENT_TAKES_SECONDS;
  };
  for (let warm = 0; warm < WARM_ROUNDS; warm += 1) await round();
  const before = residentMegabytes(server.pid);
  const beyond: number[] = [];
  for (let run = 0; run < ROUNDS; run += 1) beyond.push(await round());
  const after = residentMegabytes(server.pid);
  await Promise.all([server.stop(), agent.stop()]);
  return [
    {
      work: `${AT_ONCE.toLocaleString('en')} http executions at the same time, of an agent that takes a second: beyond it`,
      value: median(beyond) * 1_000,
      atLeast: 3_000,
      aim: null,
      better: 'lower',
      unit: ' ms',
      measured: `${ROUNDS} rounds, the longest ${(Math.max(...beyond) * 1_000).toFixed(0)} ms`,
      baseline: '',
    },
    {
      work: `growth of memory over ${ROUNDS} such rounds`,
      value: after - before,
      atLeast: 50,
      aim: null,
      better: 'lower',
      unit: ' MB',
      measured: `VmRSS ${after.toFixed(0)} MB`,
      baseline: `after ${WARM_ROUNDS} rounds ${before.toFixed(0)} MB`,
    },
  ];
}

async function isIdle({ url }: Server): Promise<boolean> {
  const open = await Promise.all(
    ['pending', 'running'].map(async (state) => {
      const response = await fetch(`${url}/api/v1/executions?state=${state}&limit=1`);
      return ((await response.json()) as { items: unknown[] }).items.length;
    }),
  );
  return open.every((count) => count === 0);
}
