import type { Keyed } from './cancel-model.js';
import { isBefore } from './sent.js';

/** An execution of an agent with `debounce` that has ended. */
export interface DebouncedExecution {
  correlation: string;
  state: string;
  /** The correlation of the artifact that took its place. */
  supersededBy: string | null;
  /** When it was queued. */
  queuedAt: number;
}

/**
 * Returns a line for each execution that another artifact superseded which has another key or came before it, or that ran
 * although it was superseded, and for each that was queued later than `longestMs` after its artifact. `between`: how much of
 * the time between two times counts.
 */
export function wronglySuperseded(
  executions: readonly DebouncedExecution[],
  works: ReadonlyMap<string, Keyed>,
  { longestMs, between }: { longestMs: number; between: (from: number, to: number) => number },
): string[] {
  return executions.flatMap(({ correlation, state, supersededBy, queuedAt }) => {
    const { key, sent } = works.get(correlation)!;
    if (supersededBy === null)
      return between(sent.until, queuedAt) > longestMs
        ? [`${correlation} was sent at ${sent.until}, and queued at ${queuedAt}`]
        : [];
    const by = works.get(supersededBy)!;
    return [
      ...(state === 'cancelled' ? [] : [`${correlation} has ${state} although ${supersededBy} took its place`]),
      ...(by.key === key ? [] : [`${supersededBy} took the place of ${correlation}, which has another key`]),
      ...(isBefore(by.sent, sent) ? [`${supersededBy} took the place of ${correlation}, and came before it`] : []),
    ];
  });
}
