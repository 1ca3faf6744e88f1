/**
 * Turns anything that an agent's own code threw into an Error with a message. Code can throw strings, plain objects,
 * errors of another realm, and errors without a message.
 */
export function asError(thrown: unknown): Error {
  if (thrown instanceof Error && typeof thrown.message === 'string' && thrown.message !== '') return thrown;
  const error = new Error(messageOf(thrown), { cause: thrown });
  if (thrown instanceof Error) error.name = thrown.name;
  return error;
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return `the agent threw ${thrown.name} without a message`;
  if (typeof thrown === 'string' && thrown !== '') return thrown;
  const message = typeof thrown === 'object' && thrown !== null && 'message' in thrown ? thrown.message : undefined;
  return typeof message === 'string' && message !== ''
    ? message
    : `the agent threw ${showValue(thrown)} instead of an Error`;
}

function showValue(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return `a value of type ${typeof value}`; // circular, or a toJSON that throws
  }
}
