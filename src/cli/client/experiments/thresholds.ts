import { isJsonObject, type JsonValue } from '../../../common/json.js';
import { listed } from '../../../common/names-in-messages.js';
import { exceeds } from '../../../common/rounded-sum.js';
import type { ExperimentBody } from '../../../features/experiments/dto/experiment-body.js';
import { ClientError } from '../client-errors.js';

const OF_VARIANT = ['mean', 'median', 'p95'] as const;
/** They compare a variant with the first one. */
const OF_PAIRS = ['difference', 'low', 'high', 'p_value'] as const;
const VALUES = [...OF_VARIANT, ...OF_PAIRS] as const;
const FIELDS = ['variant', 'scorer', 'value', 'at_least', 'at_most'];

type Value = (typeof VALUES)[number];

/** A value that an experiment has to reach. */
export interface Threshold {
  variant: string;
  scorer: string;
  value: Value;
  at_least?: number;
  at_most?: number;
}

/** The names that a threshold may have. */
export interface Named {
  variants: readonly string[];
  scorers: readonly string[];
}

/** Throws a ClientError that names the first problem, before anything is started. */
export function thresholdsOf(given: JsonValue | undefined, named: Named): Threshold[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw new ClientError('thresholds: must be a list');
  return given.map((each, index) => thresholdOf(each, `thresholds[${index}]`, named));
}

function thresholdOf(given: JsonValue, at: string, { variants, scorers }: Named): Threshold {
  if (!isJsonObject(given)) throw new ClientError(`${at}: must be an object with ${listed(FIELDS, 'and')}`);
  const unknown = Object.keys(given).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw new ClientError(`${at}.${unknown}: is not a known field; there are ${listed(FIELDS, 'and')}`);
  const { value = 'mean', at_least, at_most } = given;
  const variant = oneOf(given.variant, variants, `${at}.variant`);
  const scorer = oneOf(given.scorer, scorers, `${at}.scorer`);
  const measured = oneOf(value, VALUES, `${at}.value`) as Value;
  if (variant === variants[0] && !isOfVariant(measured))
    throw new ClientError(`${at}.value: ${measured} compares with the first variant; name another variant`);
  if (at_least === undefined && at_most === undefined) throw new ClientError(`${at}: needs at_least or at_most`);
  for (const [name, bound] of Object.entries({ at_least, at_most }))
    if (bound !== undefined && typeof bound !== 'number') throw new ClientError(`${at}.${name}: must be a number`);
  return {
    variant,
    scorer,
    value: measured,
    ...(typeof at_least === 'number' && { at_least }),
    ...(typeof at_most === 'number' && { at_most }),
  };
}

function oneOf(given: JsonValue | undefined, known: readonly string[], at: string): string {
  if (typeof given === 'string' && known.includes(given)) return given;
  throw new ClientError(`${at}: must be one of ${listed(known, 'and')} (got ${JSON.stringify(given) ?? 'nothing'})`);
}

const isOfVariant = (value: Value): value is (typeof OF_VARIANT)[number] => OF_VARIANT.some((known) => known === value);

/** Returns a sentence for each threshold that the experiment misses. One without a value is missed. */
export const missedBy = (experiment: ExperimentBody, thresholds: readonly Threshold[]): string[] =>
  thresholds.flatMap((threshold) => {
    const found = valueOf(experiment, threshold);
    const { variant, scorer, value, at_least, at_most } = threshold;
    const is = `${scorer} of ${variant}: ${value} is ${found ?? 'not known'}`;
    return [
      ...(at_least !== undefined && !(found !== null && !exceeds(at_least, found))
        ? [`${is}, and must be at least ${at_least}`]
        : []),
      ...(at_most !== undefined && !(found !== null && !exceeds(found, at_most))
        ? [`${is}, and must be at most ${at_most}`]
        : []),
    ];
  });

function valueOf({ summary }: ExperimentBody, { variant, scorer, value }: Threshold): number | null {
  if (isOfVariant(value)) {
    const scores = summary?.variants.find((each) => each.variant === variant)?.scores;
    return scores?.find((each) => each.scorer === scorer)?.[value] ?? null;
  }
  const found = summary?.comparisons.find((each) => each.variant === variant && each.scorer === scorer);
  if (!found) return null;
  if (value === 'low') return found.interval?.[0] ?? null;
  return value === 'high' ? (found.interval?.[1] ?? null) : found[value];
}
