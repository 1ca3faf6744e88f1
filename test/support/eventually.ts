/** Polls until `holds` is true. Fails after `withinMs` with the description of the condition and the last error. */
export async function eventually(
  what: string,
  holds: () => Promise<boolean> | boolean,
  withinMs = 90_000,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  let lastError: unknown;
  while (Date.now() < deadline) {
    try {
      if (await holds()) return;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`not within ${withinMs} ms: ${what}${lastError ? ` (${String(lastError)})` : ''}`);
}
