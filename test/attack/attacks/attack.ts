import { setTimeout as delay } from 'node:timers/promises';

import { Connections } from '../connections.js';
import { type Answered, ATTACKER, send, type Sent } from '../requests.js';

/** The pod under attack, and the ways to reach it. */
export interface Target {
  url: string;
  port: number;
}

export interface Attack {
  /** Completes "withstands ...". */
  name: string;
  /** Runs once for a pod, before the attack. */
  prepare?(target: Target): Promise<void>;
  /** How many MiB the database may grow by, if growth is the attack. */
  mostStoredMib?: number;
  /**
   * The share of their usual rate that honest clients must keep, if it is lower than the default: they request the very
   * resource that the attack exhausts.
   */
  leastHonestShare?: number;
  /** How many of its answers may be other than 200 while it is the only attack. Absent for any number. */
  mostRefused?: number;
  /** Resolves with the answers that the attacker received. */
  run(target: Target): Promise<Answered[]>;
}

export const MIB = 2 ** 20;

/** Returns a list of small values with about this many bytes of JSON. In memory they take many times that. */
export const smallValues = (bytes: number): string => `[${'{},'.repeat(Math.floor(bytes / 3))}{}]`;

export const ask = ({ url }: Target, request: Sent): Promise<Answered> => send(url, { from: ATTACKER, ...request });

export const atOnce = (target: Target, count: number, request: (n: number) => Sent): Promise<Answered[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => ask(target, request(n))));

/** Sends all requests through eight clients. */
export async function inTurn(target: Target, count: number, request: (n: number) => Sent): Promise<Answered[]> {
  const answers: Answered[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) answers.push(await ask(target, request((next += 1))));
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return answers;
}

/** Sends all requests together and aborts those without an answer after `ms`. */
export async function givenUpAfter(
  ms: number,
  target: Target,
  count: number,
  request: (n: number) => Sent,
): Promise<Answered[]> {
  const gone = new AbortController();
  const asked = atOnce(target, count, (n) => ({ ...request(n), signal: gone.signal }));
  await delay(ms);
  gone.abort();
  return asked;
}

/** Runs `work` with raw connections and closes them afterwards. */
export const byConnections =
  (work: (connections: Connections) => Promise<unknown>) =>
  async ({ port }: Target): Promise<Answered[]> => {
    const connections = new Connections(port);
    try {
      await work(connections);
    } finally {
      connections.endAll();
    }
    return [];
  };

/** Opens connections, no faster than the machine accepts them. */
export async function open(
  connections: Connections,
  count: number,
  bytes: Buffer | string,
  options?: { reads: boolean },
): Promise<void> {
  for (let n = 1; n <= count; n += 1) {
    connections.begin(bytes, options);
    if (n % 50 === 0) await delay(10);
  }
}

/** Repeats `work` at an interval. */
export async function repeat(times: number, everyMs: number, work: (n: number) => unknown): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    await work(n);
    await delay(everyMs);
  }
}
