import { setTimeout as delay } from 'node:timers/promises';

export default async ([row], { signal }) => {
  await delay((row.payload.n % 4) * 10, undefined, { signal });
  return row.payload;
};
