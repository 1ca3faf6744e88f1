import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { runStarling, Server } from './children.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';

const FEW = 500;
const MANY = 5_000;
const RUNS = 3;

/**
 * Generates a chain. Every tenth agent joins two types, and every hundredth leads back 50 places, so that there are
 * cycles.
 */
const agentText = (n: number): string => `
  agent${n}:
    consumes: [{ types: [T${n}${n % 10 === 9 ? `, T${n - 1}` : ''}] }]
    publishes: [{ type: T${n + 1} }${n % 100 === 99 ? `, { type: T${n - 50} }` : ''}]
    engine: { kind: expression, expression: "{'n': payload.n}" }
`;

/** Measures how long a configuration of 5,000 agents takes to be checked and to be served, compared with one of 500. */
export async function agentRows(folder: string): Promise<Row[]> {
  const fileOf = (count: number): string => join(folder, `agents-${count}.yaml`);
  for (const count of [FEW, MANY])
    writeFileSync(fileOf(count), `agents:${Array.from({ length: count }, (_, n) => agentText(n)).join('')}`);
  let databases = 0;
  const start = async (count: number): Promise<void> => {
    const server = await Server.starling(folder, `agents-${(databases += 1)}`, {
      options: ['--config', fileOf(count)],
    });
    await server.stop();
  };
  return [
    await ratioRow('starling check', (count) => runStarling(['check', fileOf(count)])),
    await ratioRow('start and stop', start),
  ];
}

async function ratioRow(work: string, run: (agents: number) => Promise<void>): Promise<Row> {
  const runs: { few: number; many: number }[] = [];
  for (let count = 0; count < RUNS; count += 1)
    runs.push({ few: await secondsOf(() => run(FEW)), many: await secondsOf(() => run(MANY)) });
  const few = median(runs.map((each) => each.few));
  const many = median(runs.map((each) => each.many));
  return {
    work: `${work} with ${MANY} agents, compared with ${FEW}`,
    value: many / few,
    atLeast: 12,
    aim: null,
    better: 'lower',
    unit: '',
    measured: `${many.toFixed(2)} s`,
    baseline: `${few.toFixed(2)} s`,
  };
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}
