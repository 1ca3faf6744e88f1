/** Of an attempt. `left`: to somebody outside, who ends it later. */
export type AttemptOutcome = 'completed' | 'retried' | 'failed' | 'deferred' | 'discarded';

/** `waiting`: the attempt begins again, when there is room in a budget. */
export type ExecutionOutcome = AttemptOutcome | 'waiting';

/** Of a try. `dead`: it was the last one. */
export type TryOutcome = 'delivered' | 'retried' | 'dead' | 'discarded';

/** `held`: the try has not been made yet. */
export type DeliveryOutcome = TryOutcome | 'held';

/** What the core reports about its work; the metrics feature turns it into histograms. All durations in milliseconds. */
export abstract class Telemetry {
  abstract executionEnded(agent: string, outcome: AttemptOutcome, durationMs: number): void;
  abstract executionClaimed(agent: string, waitedMs: number): void;
  abstract deliveryTried(outcome: TryOutcome, durationMs: number): void;
  /** Dead without a try that was the last. */
  abstract deliveriesGivenUp(count: number): void;
  abstract transactionEnded(durationMs: number): void;
  abstract predicateFailed(agent: string): void;
  /** It could not be fired, and is tried again. */
  abstract timerFailed(kind: string): void;
  abstract streamsOpen(count: number): void;
  /** An attempt used a model; `cost` is null where that has no price. */
  abstract modelUsed(agent: string, usage: { model: string; inputTokens: number; outputTokens: number; cost: number | null; latencyMs: number }): void;
}
