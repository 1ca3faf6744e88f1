/** How an attempt ended. `deferred`: an external worker completes it later. */
export type AttemptOutcome = 'completed' | 'retried' | 'failed' | 'deferred' | 'discarded';

/** `waiting`: the attempt starts again when there is room in a budget. */
export type ExecutionOutcome = AttemptOutcome | 'waiting';

/** Whether work belongs to a replay. */
export type WorkOrigin = 'live' | 'replay';

export const workOrigin = (isReplay: boolean): WorkOrigin => (isReplay ? 'replay' : 'live');

/** Whose work it is. */
export interface AgentWork {
  agent: string;
  origin: WorkOrigin;
  /** The variant of the agent, or `base`. Null if the agent has none, or if that is not known. */
  variant: string | null;
}

/** How a try of a delivery ended. `dead`: it was the last try. */
export type TryOutcome = 'delivered' | 'retried' | 'dead' | 'discarded';

/** `held`: the try was postponed and has not been made yet. */
export type DeliveryOutcome = TryOutcome | 'held';

/**
 * Events that the core reports about its work. The metrics feature turns them into metrics. All durations in
 * milliseconds.
 */
export abstract class Telemetry {
  abstract executionEnded(work: AgentWork, outcome: AttemptOutcome, durationMs: number): void;
  abstract executionClaimed(agent: string, origin: WorkOrigin, waitedMs: number): void;
  abstract deliveryTried(outcome: TryOutcome, durationMs: number): void;
  /** Deliveries that are abandoned without a last try. */
  abstract deliveriesGivenUp(count: number): void;
  abstract transactionEnded(durationMs: number): void;
  abstract predicateFailed(agent: string): void;
  /** A timer could not be fired. It is tried again. */
  abstract timerFailed(kind: string): void;
  abstract streamsOpen(count: number): void;
  /** An attempt used a model. `cost` is null if the model has no price. */
  abstract modelUsed(
    work: AgentWork,
    usage: { model: string; inputTokens: number; outputTokens: number; cost: number | null; latencyMs: number },
  ): void;
}
