/** The exit code after Ctrl-C, as shells define it. */
export const INTERRUPTED = 130;

/** Returns a signal that Ctrl-C aborts from now on, instead of ending the process. */
export function abortOnSigint(): AbortSignal {
  const controller = new AbortController();
  // The handler stays, because npm forwards Ctrl-C, and the second signal of the same keystroke must not end the
  // process.
  process.on('SIGINT', () => controller.abort());
  return controller.signal;
}
