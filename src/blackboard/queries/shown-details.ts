import type { Settings } from '../../config/settings.js';

/**
 * Returns `cause` and `stack` of an error for an answer, each only if there is one. Without `error_stacks` there are none, even if they were
 * stored earlier.
 */
export function shownDetails(
  { errorStacks }: Pick<Settings, 'errorStacks'>,
  row: { error_message: string | null; error_cause: string | null; error_stack: string | null },
): { cause?: string; stack?: string } {
  // An older version that retries an execution during an upgrade leaves them behind.
  if (!errorStacks || row.error_message === null) return {};
  return {
    ...(row.error_cause !== null && { cause: row.error_cause }),
    ...(row.error_stack !== null && { stack: row.error_stack }),
  };
}
