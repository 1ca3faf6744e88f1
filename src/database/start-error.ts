/** The service cannot start, and the operator can fix it. The message is one line that says what to change. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
