import { canonicalJson, type JsonValue } from '../../common/json.js';
import { roundedSum } from '../../common/rounded-sum.js';
import { valueAt } from './json-pointer.js';

/** The score of one trial by one scorer, as it is stored. */
export interface Score {
  /** Null if the scorer has failed. */
  score: number | null;
  /** Why it has failed. */
  error?: string;
  /** Only judges give one. */
  reason?: string;
  /** The artifact with the judge's answer. */
  artifact_id?: string;
  /** The correlation in which a judge works. */
  judged_in?: string;
}

/** Whether a judge has not answered yet. */
export const isOpen = ({ score, error, judged_in }: Score): boolean =>
  judged_in !== undefined && score === null && error === undefined;

const LONGEST_TEXT = 500;

export const cut = (text: string, most = LONGEST_TEXT): string =>
  text.length > most ? `${text.slice(0, most).toWellFormed()}...` : text;

export const failedScore = (error: string): Score => ({ score: null, error: cut(error) });

const score = (is: boolean): Score => ({ score: is ? 1 : 0 });

/** Whether the output at `path` is the expected value. Without an output, it is not. */
export function equals(output: JsonValue | null, path: string, expected: JsonValue): Score {
  const found = output === null ? undefined : valueAt(output, path);
  return score(found !== undefined && isEqual(found, expected));
}

/** Whether the text at `path` contains the expected text, or the list there the expected value. */
export function contains(output: JsonValue | null, path: string, expected: JsonValue): Score {
  const found = output === null ? undefined : valueAt(output, path);
  if (found === undefined || found === null) return score(false);
  if (Array.isArray(found)) return score(found.some((value) => isEqual(value, expected)));
  if (typeof found !== 'string')
    return failedScore(`the output has neither a text nor a list at "${path}"; contains needs one of them`);
  if (typeof expected !== 'string')
    return failedScore('the expected value is not a text, and a text contains nothing else');
  return score(found.includes(expected));
}

/** The cells of a CSV are texts, so that the number 7 equals the text "7". */
const isEqual = (found: JsonValue, expected: JsonValue): boolean =>
  typeof expected === 'string' && (typeof found === 'number' || typeof found === 'boolean')
    ? String(found) === expected
    : canonicalJson(found) === canonicalJson(expected);

/** A result of CEL, or an answer of a judge, as a score. */
export function scoreOf(value: JsonValue | undefined): Score {
  if (typeof value === 'boolean') return score(value);
  if (typeof value === 'number' && Number.isFinite(value)) return { score: value };
  return failedScore(
    `the result must be a number or a boolean (got ${value === undefined ? 'nothing' : cut(JSON.stringify(value), 60)})`,
  );
}

/** A variant that fails soon would otherwise be the fastest one. */
export function latency(output: JsonValue | null, durationMs: number | null): Score {
  if (output === null) return failedScore('the trial has no output');
  return durationMs === null ? failedScore('it has no duration') : { score: durationMs };
}

export function cost(trial: { input_tokens: number; output_tokens: number; cost: number | null }): Score {
  if (trial.cost !== null) return { score: roundedSum(trial.cost) };
  return trial.input_tokens + trial.output_tokens === 0
    ? { score: 0 }
    : failedScore('the models that were used have no price');
}
