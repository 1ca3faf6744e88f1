import type { Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import type { SubscriptionPlace } from '../matching/subscription-rows.js';
import type { Timer } from '../scheduling/timer-rows.js';

/** Does the work of due timers of one kind. */
export interface TimerHandler {
  /**
   * Reads and evaluates what the timer needs, before its transaction begins. An error postpones the timer.
   */
  prepare(timer: Timer): Promise<TimerWork | NotHere>;
}

/** Injects a handler for each kind of timer. */
export const TIMER_HANDLERS = Symbol('timer handlers');

export type TimerHandlers = Readonly<Record<Timer['kind'], TimerHandler>>;

/** The work of a timer, with the lock keys and the correlation that its transaction locks first. */
export interface TimerWork {
  lockKeys: string[];
  correlationId?: string;
  run: (tx: Transaction, changes: CorrelationChanges) => Promise<void>;
}

/** This process does not have the agent, the subscription or the configuration of the timer. */
export interface NotHere {
  needs: NeededByTimer;
}

/**
 * A process needs this to fire a timer: a subscription, or an agent if the timer belongs to no subscription, or the
 * configuration of a replay (`configurationKey`).
 */
export type NeededByTimer = SubscriptionPlace | { agent: string; subscription: null } | { configuration: string };

/** For a timer whose work another process has done already. */
export const NOTHING: TimerWork = { lockKeys: [], run: () => Promise.resolve() };
