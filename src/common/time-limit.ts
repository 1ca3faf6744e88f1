import { createContext, Script } from 'node:vm';

const CALL = new Script('work()');
const TOO_LATE = 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/**
 * Returns the result of `work`, which is not asynchronous. Undefined if it did not end within `ms` milliseconds; it is
 * stopped then, wherever it is.
 */
export function withinTime<T>(ms: number, work: () => T): { result: T } | undefined {
  const context = createContext({ work });
  try {
    return { result: CALL.runInContext(context, { timeout: ms }) as T };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === TOO_LATE) return undefined;
    throw error;
  }
}
