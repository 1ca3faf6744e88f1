import { setTimeout } from 'node:timers/promises';

/** Keeps its inputs for as long as a short call of another service takes. */
export default async (inputs) => {
  await setTimeout(200);
  return inputs.length < 0 ? {} : null;
};
