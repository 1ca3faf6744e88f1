import { duration, listOf, type SettingType } from './setting-types.js';

const MOST_RETRIES = 20;

/** Times of the retries, in milliseconds after the first try. An empty list means a single try. */
export function retryTimes(): SettingType<number[]> {
  const list = listOf(
    duration({ min: '100ms', max: '7d' }),
    `at most ${MOST_RETRIES} durations from 100ms to 7d, each longer than the one before, such as 5s,30s,2m`,
  );
  return {
    ...list,
    schema: { ...list.schema, maxItems: MOST_RETRIES },
    parse: (raw) => {
      const result = list.parse(raw);
      return 'value' in result && !isAscending(result.value) ? { wrong: raw } : result;
    },
  };
}

const isAscending = (times: readonly number[]): boolean =>
  times.length <= MOST_RETRIES && times.every((time, index) => index === 0 || time > times[index - 1]!);
