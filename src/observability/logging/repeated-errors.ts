import type { LogFn, Logger } from 'pino';

import { type DomainError, isUnavailable } from '../../common/domain-error.js';
import { scheduler } from '../../common/scheduler.js';

const WINDOW_MS = 1_000;

interface Window {
  /** How often the error occurred since the last line. */
  times: number;
  /** Writes the latest occurrence. */
  write: (times: number) => void;
}

type Hook = (this: Logger, line: Parameters<LogFn>, method: LogFn) => void;

/**
 * A pino hook for errors that mean "unavailable", such as a full disk. Each is logged at most once per second, with its
 * number of occurrences and without a stack, which does not help with a disk. Otherwise every request and every loop
 * would log a page. Other lines pass unchanged.
 */
export function throttleRepeatedErrors(): Hook {
  const windows = new Map<string, Window>();
  const open = (reason: string): void => {
    windows.set(reason, { times: 0, write: () => undefined });
    scheduler.after(WINDOW_MS, () => close(reason));
  };
  const close = (reason: string): void => {
    const { times, write } = windows.get(reason)!;
    windows.delete(reason);
    if (times === 0) return;
    write(times);
    open(reason);
  };
  return function (line, method) {
    const error = unavailableErrorIn(line[0]);
    if (error === null) return method.apply(this, line);
    const write = (times: number): void => method.apply(this, withoutStack(line, error, times));
    const window = windows.get(error.message);
    if (window) return void Object.assign(window, { times: window.times + 1, write });
    write(1);
    open(error.message);
  };
}

function unavailableErrorIn(fields: unknown): DomainError | null {
  const err = (fields as { err?: unknown } | null | undefined)?.err;
  return isUnavailable(err) ? (err as DomainError) : null;
}

function withoutStack([fields, ...rest]: Parameters<LogFn>, error: DomainError, times: number): Parameters<LogFn> {
  return [
    {
      ...(fields as unknown as object),
      err: undefined,
      reason: error.message,
      cause: (error.cause as Error | undefined)?.message,
      times,
    },
    ...rest,
  ] as unknown as Parameters<LogFn>;
}
