import type { Logged } from './execution-log.js';

/** An execution of an agent with `singleton` that has ended. */
export interface ConflictingExecution {
  correlation: string;
  key: number;
  state: string;
  /** The correlation of the execution, or of the artifact, that is the reason why it was cancelled. */
  because: string | null;
  /** Its key is computed just after it is queued, as after the window of `debounce`. */
  isDecidedLater?: boolean;
}

/** How long an execution may continue after the one that takes its place was queued. */
const LONGEST_MS = 5_000;

/** Between the look for an earlier one and the entry of the log, that one may end. */
const LONGEST_QUEUEING_MS = 1_000;

/** When an execution was queued, and when it had ended. */
interface Life {
  seq: number;
  endedSeq: number;
  at: number;
  endedAt: number;
}

/** When executions were queued and had ended, by their correlations. */
export function livesIn(log: readonly Logged[]): Map<string, Life> {
  const lives = new Map<string, Life>();
  for (const { seq, at, correlation_id: correlation, state } of log) {
    if (correlation === null) continue;
    const life = lives.get(correlation);
    if (!life) lives.set(correlation, { seq, at, endedSeq: Infinity, endedAt: Infinity });
    const isEnd = state !== 'pending' && state !== 'running';
    if (isEnd) Object.assign(lives.get(correlation)!, { endedSeq: seq, endedAt: at });
  }
  return lives;
}

/**
 * Returns a line for each execution that `on_conflict: skip` should have skipped, because an earlier one of its key had not
 * ended, or should not.
 */
export function wronglySkipped(
  executions: readonly ConflictingExecution[],
  lives: ReadonlyMap<string, Life>,
): string[] {
  return eachWithOthers(executions, (one, others) => {
    const own = lives.get(one.correlation)!;
    if (one.because !== null) {
      const by = others.find(({ correlation }) => correlation === one.because);
      if (!by) return [`${one.correlation} was skipped for ${one.because}, which has another key`];
      const { seq, endedAt } = lives.get(by.correlation)!;
      const mayBeActive = seq < own.seq && own.at - endedAt < LONGEST_QUEUEING_MS;
      return mayBeActive ? [] : [`${one.correlation} was skipped for ${one.because}, which had ended`];
    }
    return others
      .filter(({ correlation, because }) => {
        const { seq, endedSeq, endedAt } = lives.get(correlation)!;
        const mayHaveEnded = one.isDecidedLater === true && endedAt - own.at < LONGEST_QUEUEING_MS;
        return because === null && seq < own.seq && own.seq < endedSeq && !mayHaveEnded;
      })
      .map(({ correlation }) => `${one.correlation} was not skipped for ${correlation}`);
  });
}

/**
 * Returns a line for each execution that a later one of its key did not cancel in time, or that another one has cancelled.
 * `between`: how much of the time between two times counts.
 */
export function wronglyRenewed(
  executions: readonly ConflictingExecution[],
  lives: ReadonlyMap<string, Life>,
  between: (from: number, to: number) => number,
): string[] {
  return eachWithOthers(executions, (one, others) => {
    const own = lives.get(one.correlation)!;
    if (one.because !== null) {
      const by = others.find(({ correlation }) => correlation === one.because);
      if (!by) return [`${one.correlation} was cancelled by ${one.because}, which has another key`];
      return lives.get(by.correlation)!.endedSeq > own.seq
        ? []
        : [`${one.correlation} was cancelled by an earlier one`];
    }
    return others
      .map(({ correlation }) => ({ correlation, ...lives.get(correlation)! }))
      .filter(({ seq, at }) => seq > own.seq && between(at, own.endedAt) > LONGEST_MS)
      .map(({ correlation }) => `${one.correlation} continued for ${LONGEST_MS} ms beside ${correlation}`);
  });
}

function eachWithOthers(
  executions: readonly ConflictingExecution[],
  check: (one: ConflictingExecution, others: readonly ConflictingExecution[]) => string[],
): string[] {
  return [...Map.groupBy(executions, ({ key }) => key).values()].flatMap((own) =>
    own.flatMap((one) =>
      check(
        one,
        own.filter((other) => other !== one),
      ),
    ),
  );
}
