import type { Schemas } from '../../api/requests';
import { numberText } from '../../formats';

export type Limit = Schemas['LimitBody'];
type Values = Schemas['LimitValuesBody'];

/** "20 at the same time, 60/m, 10 together" */
export function valuesText({ concurrency, rate, burst }: Values): string {
  const parts = [
    ...(concurrency === null ? [] : [`${numberText(concurrency)} at the same time`]),
    ...(rate === null ? [] : [rate]),
    ...(burst === null || burst === 1 ? [] : [`${numberText(burst)} together`]),
  ];
  return parts.length === 0 ? 'limits nothing' : parts.join(', ');
}

/** Whether executions share it only if they have equal keys. */
export const isByKey = ({ agents }: Limit): boolean => agents.some(({ key }) => key !== null);

/** "20 of 20"; of a limit with keys, where each key may use as much, "20". */
export const usedText = (limit: Limit): string =>
  limit.concurrency === null || isByKey(limit)
    ? numberText(limit.running)
    : `${numberText(limit.running)} of ${numberText(limit.concurrency)}`;

/** `most`: the API counts no further than one more. */
export const countedText = (count: number, most: number): string =>
  count > most ? `more than ${numberText(most)}` : numberText(count);

export const MOST_WAITING = 10_000;
export const MOST_WAITING_FOR_KEY = 1_000;
