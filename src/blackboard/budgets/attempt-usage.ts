import type { ModelUsage } from '../../engines/engine.js';

/** The model usage of one attempt: the sum of its calls. */
export type AttemptUsage = ModelUsage;

/** `usage` is null before the first call. */
export function addUsage(usage: AttemptUsage | null, call: ModelUsage): AttemptUsage {
  if (!usage) return call;
  return {
    model: usage.model,
    inputTokens: usage.inputTokens + call.inputTokens,
    outputTokens: usage.outputTokens + call.outputTokens,
    cost: addCosts(usage.cost, call.cost),
    latencyMs: usage.latencyMs + call.latencyMs,
  };
}

/** A cost of null (the model has no price) adds nothing. The sum is null only if both are. */
export const addCosts = (one: number | null, other: number | null): number | null =>
  one === null && other === null ? null : (one ?? 0) + (other ?? 0);
