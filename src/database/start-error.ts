/** The service cannot start, and the operator can mend it: the message is one line that says what to change. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
