import type { Clock } from '../../common/clock.js';
import type { EngineContext, ExecutionInputs, PreparedEngine } from '../../engines/engine.js';
import { errorDetails } from '../../engines/error-details.js';
import type { UserFrames } from '../../engines/user-frames.js';
import type { ExecutionFailure } from './ending-execution.js';

export type AttemptResult = { ok: true; answer: unknown } | { ok: false; failure: ExecutionFailure };

export interface RunningAttempt {
  /** Resolves when the engine has answered or the timeout has passed. */
  result: Promise<AttemptResult>;
  /**
   * Resolves when the engine has returned. An engine that ignores its signal returns long after `result` has resolved.
   */
  returned: Promise<void>;
}

/**
 * Starts one attempt. On timeout it calls `abort`, and ignores what the engine returns later. `frames` finds the places
 * of its errors.
 */
export function startAttempt(
  engine: PreparedEngine,
  inputs: ExecutionInputs,
  context: EngineContext,
  limit: { timeoutMs: number; clock: Clock; abort: (reason: Error) => void },
  frames: UserFrames,
): RunningAttempt {
  const answered = (async (): Promise<AttemptResult> => {
    try {
      return { ok: true, answer: await engine.run(inputs, context) };
    } catch (error) {
      return { ok: false, failure: failureOf(error, frames) };
    }
  })();
  let cancelTimeout = (): void => undefined;
  const timedOut = new Promise<AttemptResult>((resolve) => {
    cancelTimeout = limit.clock.at(limit.clock.now() + limit.timeoutMs, () => {
      const message = `no answer within ${limit.timeoutMs / 1_000} s`;
      resolve({ ok: false, failure: { type: 'timeout', message } });
      limit.abort(new DOMException(message, 'TimeoutError'));
    });
  });
  const returned = answered.then(() => cancelTimeout());
  return { result: Promise.race([answered, timedOut]), returned };
}

/** An attempt that failed before its engine was called. */
export const failedAttempt = (failure: ExecutionFailure): RunningAttempt => ({
  result: Promise.resolve({ ok: false, failure }),
  returned: Promise.resolve(),
});

const LONGEST_MESSAGE = 2_000;

// Agents may throw anything, including objects whose message is not a text or whose getters throw.
const failureOf = (thrown: unknown, frames: UserFrames): ExecutionFailure => ({
  type: textOf(() => (thrown as Error).name) ?? 'Error',
  message: textOf(() => (thrown as Error).message) ?? 'the engine gave no reason',
  details: errorDetails(thrown, frames),
  ...whatFollows(thrown),
});

/** For engines whose remote side said whether and when to call it again. */
function whatFollows(thrown: unknown): Pick<ExecutionFailure, 'isFinal' | 'retryAfterMs'> {
  if (!(thrown instanceof Error)) return {};
  const { isFinal, retryAfterMs: ms } = thrown as { isFinal?: unknown; retryAfterMs?: unknown };
  return { ...(isFinal === true && { isFinal }), ...(typeof ms === 'number' && ms > 0 && { retryAfterMs: ms }) };
}

function textOf(read: () => unknown): string | null {
  try {
    const text = read();
    return typeof text === 'string' && text !== '' ? text.slice(0, LONGEST_MESSAGE) : null;
  } catch {
    return null;
  }
}
