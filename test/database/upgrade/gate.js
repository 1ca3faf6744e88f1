import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Answers the first two inputs, and the others when the file GATE exists. */
export default async ([{ payload }], { signal }) => {
  while (payload.n >= 2 && !existsSync(process.env.GATE)) await delay(20, undefined, { signal });
  return { n: payload.n };
};
