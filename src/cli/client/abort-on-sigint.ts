/** As shells count the end by Ctrl-C. */
export const INTERRUPTED = 130;

/** Ctrl-C aborts the signal from now on, instead of ending the process. */
export function abortOnSigint(): AbortSignal {
  const controller = new AbortController();
  // Stays on: npm passes a terminal's Ctrl-C on, and the second one of the same keystroke must not kill.
  process.on('SIGINT', () => controller.abort());
  return controller.signal;
}
