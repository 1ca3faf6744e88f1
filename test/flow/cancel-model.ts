import { isBefore, type Sent } from './sent.js';

/** An artifact that cancels, or the input of an execution that it may cancel. */
export interface Keyed {
  key: string | number;
  sent: Sent;
}

/** An execution of an agent with `cancel_on` that has ended. */
export interface CancelledExecution {
  correlation: string;
  state: string;
  /** The correlation of the artifact that cancelled it. */
  cancelledBy: string | null;
  endedAt: number;
}

/** How long an execution may continue after the artifact that cancels it was stored. */
const LONGEST_MS = 5_000;

/**
 * Returns a line for each execution that was not cancelled by the first artifact with its key that came after it, unless it
 * ended before, or that an artifact cancelled which had another key or came before it. `between`: how much of the time
 * between two times counts.
 */
export function wronglyCancelled(
  executions: readonly CancelledExecution[],
  works: ReadonlyMap<string, Keyed>,
  recalls: ReadonlyMap<string, Keyed>,
  between: (from: number, to: number) => number,
): string[] {
  return executions.flatMap(({ correlation, state, cancelledBy, endedAt }) => {
    const { key, sent } = works.get(correlation)!;
    const after = [...recalls.values()].filter((recall) => recall.key === key && isBefore(sent, recall.sent));
    if (cancelledBy !== null) {
      const by = recalls.get(cancelledBy)!;
      if (by.key !== key) return [`${correlation} was cancelled by ${cancelledBy}, which has another key`];
      if (isBefore(by.sent, sent)) return [`${correlation} was cancelled by ${cancelledBy}, which came before it`];
      return after.some((recall) => isBefore(recall.sent, by.sent))
        ? [`${correlation} was cancelled by ${cancelledBy}, and not by one before it`]
        : [];
    }
    return state === 'completed' && after.some((recall) => between(recall.sent.until, endedAt) > LONGEST_MS)
      ? [`${correlation} has completed although its key was called off`]
      : [];
  });
}
