import type { ModelNeed } from '../../engines/engine.js';
import { addUsage, type AttemptUsage } from './attempt-usage.js';

interface OpenCall {
  need: ModelNeed;
  /** By performance.now(). */
  since: number;
  reported: AttemptUsage | null;
}

/**
 * What one attempt takes of models. A call for which something was reserved counts as all of that until it is settled: a provider bills
 * what it generates, also where the call is given up or breaks off before it has reported any figures.
 */
export class ModelMeter {
  private counted: AttemptUsage | null = null;
  private call: OpenCall | null = null;

  /** Null before the first call. */
  get usage(): AttemptUsage | null {
    return this.call ? addUsage(this.counted, allOf(this.call)) : this.counted;
  }

  /** A call for which this is reserved is about to be made. */
  begins(need: ModelNeed): void {
    this.call = { need, since: performance.now(), reported: null };
  }

  used(usage: AttemptUsage): void {
    if (this.call) this.call.reported = addUsage(this.call.reported, usage);
    else this.counted = addUsage(this.counted, usage);
  }

  /** The call that began last has ended. `refused`: before the model generated anything. */
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
    latencyMs: performance.now() - since,
  };
}
