import { scheduler } from '../../common/scheduler.js';
import type { ModelNeed } from '../../engines/engine.js';
import { addUsage, type AttemptUsage } from './attempt-usage.js';

interface OpenCall {
  need: ModelNeed;
  /** Milliseconds, from scheduler.elapsed(). */
  since: number;
  reported: AttemptUsage | null;
}

/**
 * Measures the model usage of one attempt. Until a reserved call is settled, it counts as its whole reservation: a
 * provider bills what it generates, even if the call is aborted or fails before it reports its usage.
 */
export class ModelMeter {
  private counted: AttemptUsage | null = null;
  private call: OpenCall | null = null;

  /** Null before the first call. */
  get usage(): AttemptUsage | null {
    return this.call ? addUsage(this.counted, allOf(this.call)) : this.counted;
  }

  /** A call with this reservation begins. */
  begins(need: ModelNeed): void {
    this.call = { need, since: scheduler.elapsed(), reported: null };
  }

  used(usage: AttemptUsage): void {
    if (this.call) this.call.reported = addUsage(this.call.reported, usage);
    else this.counted = addUsage(this.counted, usage);
  }

  /** The last call has ended. `refused`: the provider refused it, so the model generated nothing. */
  settled(end: 'answered' | 'refused'): void {
    const { call } = this;
    this.call = null;
    if (!call || end === 'refused') return;
    const hasReported = call.reported !== null && call.reported.inputTokens + call.reported.outputTokens > 0;
    this.counted = addUsage(this.counted, hasReported ? call.reported! : allOf(call));
  }
}

function allOf({ need, since, reported }: OpenCall): AttemptUsage {
  return {
    model: need.model,
    inputTokens: Math.max(need.inputTokens, reported?.inputTokens ?? 0),
    outputTokens: Math.max(need.outputTokens, reported?.outputTokens ?? 0),
    cost: need.cost === null ? null : Math.max(need.cost, reported?.cost ?? 0),
    latencyMs: scheduler.elapsed() - since,
  };
}
