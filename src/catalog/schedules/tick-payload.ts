import type { EvaluationResult } from '../../cel/language/expression-program.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { Schedule } from './schedule.js';

/** Evaluates the expression of a payload. */
export type Evaluate = (source: string, variables: { scheduled_for: string }) => Promise<EvaluationResult>;

/** The payload of a tick, or why there is none. */
export async function tickPayload(
  { publishes: { payload } }: Pick<Schedule, 'publishes'>,
  scheduledFor: number,
  evaluate: Evaluate,
): Promise<{ payload: JsonObject } | { problem: string }> {
  const variables = { scheduled_for: toTimestamp(scheduledFor) };
  if (payload === null) return { payload: variables };
  if (typeof payload === 'object') return { payload };
  const result = await evaluate(payload, variables);
  if (!result.ok) return { problem: `the expression fails: ${result.error}` };
  return isJsonObject(result.value)
    ? { payload: result.value }
    : { problem: "the expression does not make an object; write one such as { 'day': scheduled_for }" };
}
