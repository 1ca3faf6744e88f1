import { setTimeout as delay } from 'node:timers/promises';

export default async ([nap], { signal }) => {
  await delay(nap.payload.ms, undefined, { signal });
  return nap.payload;
};
