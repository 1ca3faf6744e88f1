import { setTimeout as delay } from 'node:timers/promises';

import { Connections } from '../connections.js';
import { type Answered, ATTACKER, send, type Sent } from '../requests.js';

/** What is attacked. */
export interface Target {
  url: string;
  port: number;
}

export interface Attack {
  /** Completes "withstands ...". */
  name: string;
  /** Done once for a target, before it is attacked. */
  prepare?(target: Target): Promise<void>;
  /** What the database may grow by, where that is the attack. */
  mostStoredMib?: number;
  /** Of the honest clients' rate, where less of it is left than of others: they ask for the very thing that there is too little of. */
  leastHonestShare?: number;
  /** Resolves with the answers that it got. */
  run(target: Target): Promise<Answered[]>;
}

export const MIB = 2 ** 20;

/** A list of small values, of about as many bytes: they take many times that in memory. */
export const smallValues = (bytes: number): string => `[${'{},'.repeat(Math.floor(bytes / 3))}{}]`;

export const ask = ({ url }: Target, request: Sent): Promise<Answered> => send(url, { from: ATTACKER, ...request });

export const atOnce = (target: Target, count: number, request: (n: number) => Sent): Promise<Answered[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => ask(target, request(n))));

/** All of them, by eight clients. */
export async function inTurn(target: Target, count: number, request: (n: number) => Sent): Promise<Answered[]> {
  const answers: Answered[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) answers.push(await ask(target, request((next += 1))));
  };
  await Promise.all(Array.from({ length: 8 }, client));
  return answers;
}

/** Requests that are sent at once and, where they have no answer by then, given up after `ms`. */
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

/** For what is done with bare connections, which all end afterwards. */
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

/** Opens connections, not faster than a machine takes them. */
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

/** `work` every so often. */
export async function repeat(times: number, everyMs: number, work: (n: number) => unknown): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    await work(n);
    await delay(everyMs);
  }
}
