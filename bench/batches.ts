import { setTimeout as wait } from 'node:timers/promises';

import type { LoadGenerator, Server } from './children.ts';
import { post } from './load.ts';
import { perSecond, type Row } from './row.ts';
import { median } from './statistics.ts';

const ROWS = 50_000;
const RUNS = 3;
const SYNCHRONOUS_RUNS = 1_000;

const inputsOf = (row: number) => ({ text: `Where is parcel ${row}? It was to arrive last week.` });

/**
 * Measures rows per second of a batch through one agent, to the end of the last, compared with one caller that runs
 * the agent row by row.
 */
export async function batchRow(generator: LoadGenerator, server: Server): Promise<Row> {
  const requests = [post('/run/flock', { agent_name: 'answerer', inputs: inputsOf(0) })];
  const callAlone = async (): Promise<number> =>
    (await generator.run({ url: server.url, requests, connections: 1, until: { requests: SYNCHRONOUS_RUNS } }))
      .requestsPerSecond;
  await callAlone();
  await runBatch(server, ROWS / 10);
  const runs: { batch: number; alone: number }[] = [];
  for (let run = 0; run < RUNS; run += 1) runs.push({ alone: await callAlone(), batch: await runBatch(server, ROWS) });
  const batch = median(runs.map((run) => run.batch));
  const alone = median(runs.map((run) => run.alone));
  return {
    work: `a batch of ${ROWS.toLocaleString('en')} rows through one agent, of one caller's synchronous runs`,
    value: batch / alone,
    atLeast: 3,
    aim: 6,
    better: 'higher',
    unit: '',
    measured: perSecond(batch),
    baseline: `one caller ${perSecond(alone)}`,
  };
}

async function runBatch({ url }: Server, rows: number): Promise<number> {
  const body = JSON.stringify({
    agent_name: 'answerer',
    batch_inputs: Array.from({ length: rows }, (_, row) => inputsOf(row)),
    max_workers: 64,
  });
  const started = performance.now();
  const response = await fetch(`${url}/run/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (response.status !== 200) throw new Error(`POST /run/batch answered ${response.status}: ${await response.text()}`);
  const { batch_id: id } = (await response.json()) as { batch_id: string };
  for (;;) {
    const batch = (await (await fetch(`${url}/batch/${id}?results_limit=0`)).json()) as {
      status: string;
      failed_items: number;
    };
    if (batch.status === 'completed' && batch.failed_items === 0) return rows / ((performance.now() - started) / 1_000);
    if (batch.status !== 'running' && batch.status !== 'starting')
      throw new Error(`the batch ended as ${JSON.stringify(batch)}`);
    await wait(50);
  }
}
