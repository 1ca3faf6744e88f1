import { setTimeout as delay } from 'node:timers/promises';

import type { Answered } from '../requests.js';
import { ask, type Attack, MIB, smallValues, type Target } from './attack.js';

const EXECUTIONS = 64;
const WINDOW = 200;
const RELEASED = 40;
const RELEASED_AFTER_MS = 30_000;
const WITHIN_MS = 90_000;
const MOST_TRIES = 500;
const PAUSE_MS = 20;

/**
 * Publishes artifacts one after another, each as soon as there is memory for it, and a connection beside those of other
 * attacks.
 */
async function publish(
  target: Target,
  count: number,
  type: string,
  bytes: number,
  correlation: string,
  visibility: object = { kind: 'Public' },
): Promise<void> {
  const body = `{"type":"${type}","visibility":${JSON.stringify(visibility)},"payload":{"l":${smallValues(bytes)}}}`;
  let tries = 0;
  for (let published = 0; published < count;) {
    const { status, text, error } = await ask(target, {
      path: '/api/v1/artifacts',
      headers: { 'x-correlation-id': correlation },
      body,
    });
    tries += 1;
    if (status === 200) [published, tries] = [published + 1, 0];
    else if ((status !== 503 && status !== 0) || tries === MOST_TRIES)
      throw new Error(`${type} was not published: ${status} ${text} ${error}`);
    else await delay(PAUSE_MS);
  }
}

/** Returns the last status of the correlation: when it has finished, or when the time is up. */
async function ended(target: Target, correlation: string): Promise<Answered[]> {
  for (const until = Date.now() + WITHIN_MS; ; await delay(250)) {
    const answer = await ask(target, { path: `/api/v1/correlations/${correlation}/status` });
    if (answer.status !== 200 || Date.now() > until || !answer.text.includes('"state":"active"')) return [answer];
  }
}

const window = (what: string, bytes: number): Attack => ({
  name: `a batch window of ${WINDOW} artifacts of ${what}`,
  prepare: (target) => publish(target, WINDOW - 1, 'Leaf', bytes, `window-${bytes}`),
  async run(target) {
    await publish(target, 1, 'Leaf', bytes, `window-${bytes}`);
    return ended(target, `window-${bytes}`);
  },
});

export const INPUTS: Attack[] = [
  {
    name: `${EXECUTIONS} executions at the same time, each with a megabyte of empty objects`,
    async prepare(target) {
      await ask(target, { path: '/api/v1/agents/parser/pause', body: {} });
      await publish(target, EXECUTIONS, 'Heap', MIB - 300, 'heaps');
    },
    async run(target) {
      await ask(target, { path: '/api/v1/agents/parser/resume', body: {} });
      return ended(target, 'heaps');
    },
  },
  {
    name: `${RELEASED} artifacts of a megabyte of empty objects that are released at the same time`,
    async prepare(target) {
      const releaseAt = Date.now() + RELEASED_AFTER_MS;
      for (let n = 0; n < RELEASED; n += 1) {
        const visibility = { kind: 'After', ttl: `PT${Math.max(1, Math.round((releaseAt - Date.now()) / 1_000))}S` };
        await publish(target, 1, 'Hidden', MIB - 400, 'hidden', visibility);
      }
    },
    run: (target) => ended(target, 'hidden'),
  },
  window('100 KB of empty objects', 100_000),
  window('a megabyte of empty objects', MIB - 300),
];
