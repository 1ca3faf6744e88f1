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

/** "20 of 20" executions, or units of the burst if there is only a rate; of a limit with keys, where each key may use as much, "20". */
export function usedText(limit: Limit): string {
  const { concurrency, running } = limit;
  if (concurrency === null) return usedUnitsText(limit) ?? numberText(running);
  return isByKey(limit) ? numberText(running) : usedOf(running, concurrency);
}

/** Used units of the burst, such as "7 of 10". Null for a limit without a rate, or with keys. */
export const usedUnitsText = ({ units_used: used, burst }: Pick<Limit, 'units_used' | 'burst'>): string | null =>
  used === null || burst === null ? null : usedOf(used, burst);

const usedOf = (used: number, most: number): string => `${numberText(used)} of ${numberText(most)}`;

/** `most`: the API counts no further than one more. */
export const countedText = (count: number, most: number): string =>
  count > most ? `more than ${numberText(most)}` : numberText(count);

export const MOST_WAITING = 10_000;
export const MOST_WAITING_FOR_KEY = 1_000;
