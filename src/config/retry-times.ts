import { duration, type Kind, listOf } from './kinds.js';

const MOST_RETRIES = 20;

/** When something is tried again, in milliseconds after the first try; none where it is tried once. */
export function retryTimes(): Kind<number[]> {
  const list = listOf(
    duration({ min: '100ms', max: '7d' }),
    `at most ${MOST_RETRIES} durations from 100ms to 7d, each longer than the one before, such as 5s,30s,2m`,
  );
  return {
    ...list,
    schema: { ...list.schema, maxItems: MOST_RETRIES },
    read: (raw) => {
      const reading = list.read(raw);
      return 'value' in reading && !isAscending(reading.value) ? { wrong: raw } : reading;
    },
  };
}

const isAscending = (times: readonly number[]): boolean =>
  times.length <= MOST_RETRIES && times.every((time, index) => index === 0 || time > times[index - 1]!);
