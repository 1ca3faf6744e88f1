/** Prints on standard error what is being measured, and how many seconds the bench has taken so far. */
export function report(what: string): void {
  console.error(`${Math.round(performance.now() / 1_000)} s: ${what}`);
}
