import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

import type { LoadGenerator, Server } from './children.ts';
import { CONNECTIONS, PUBLISH } from './requests.ts';
import type { Row } from './row.ts';

const PUBLISHES = 100_000;

/**
 * Settled means that it has changed by less than this many MB within this many seconds. After load, V8 collects its garbage
 * 8 s later, or 16 s later if it still counts the load.
 */
const QUIET_SECONDS = 20;
const QUIET_MB = 1;
const LONGEST_SECONDS = 60;

/** Measures the resident memory of a server that has served nothing yet, and its growth after 100,000 publishes. */
export async function memoryRows(generator: LoadGenerator, server: Server, echo: Server): Promise<Row[]> {
  const idle = await idleRow(server, echo);
  await generator.run({ url: server.url, requests: PUBLISH, connections: CONNECTIONS, until: { requests: PUBLISHES } });
  const atOnce = residentMegabytes(server.pid);
  const after = await settledMegabytes(server);
  return [
    idle,
    {
      better: 'lower',
      unit: ' MB',
      work: `growth over ${PUBLISHES} publishes`,
      value: after - idle.value,
      atLeast: 50,
      aim: 20,
      measured: `${after.toFixed(0)} MB settled, ${atOnce.toFixed(0)} MB at the last answer`,
      baseline: `idle ${idle.value.toFixed(0)} MB`,
    },
  ];
}

/** Measures a server that has served nothing yet. `name` begins the row. */
export async function idleRow(server: Server, echo: Server, name = ''): Promise<Row> {
  return {
    work: `${name}resident memory, idle`,
    value: await settledMegabytes(server),
    atLeast: 180,
    aim: 150,
    better: 'lower',
    unit: ' MB',
    measured: 'VmRSS',
    baseline: `echo ${residentMegabytes(echo.pid).toFixed(0)} MB`,
  };
}

/** Returns the process's current memory. */
export function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1_024;
}

async function settledMegabytes({ pid }: Server): Promise<number> {
  const seen = [residentMegabytes(pid)];
  while (seen.length < LONGEST_SECONDS) {
    await wait(1_000);
    seen.push(residentMegabytes(pid));
    const lately = seen.slice(-QUIET_SECONDS);
    if (lately.length === QUIET_SECONDS && Math.max(...lately) - Math.min(...lately) < QUIET_MB) break;
  }
  return seen.at(-1)!;
}
