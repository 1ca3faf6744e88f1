import { setTimeout as delay } from 'node:timers/promises';

/** Takes a moment, so that a kill finds some of it running. */
export default async ([order], { signal }) => {
  await delay((order.payload.n % 5) * 4, undefined, { signal });
  return [1, 2, 3].map((part) => ({ n: order.payload.n, part }));
};
