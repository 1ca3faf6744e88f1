import type { EngineContext, ExecutionContext } from './engine.js';

/**
 * Makes the context for agents' own code. At run time too it contains only what its type declares: the rest of an
 * engine's context belongs to the service, such as the token that can end the attempt over the API.
 */
export const agentContext = (context: EngineContext): ExecutionContext => ({
  executionId: context.executionId,
  correlationId: context.correlationId,
  attempt: context.attempt,
  traceparent: context.traceparent,
  signal: context.signal,
  blackboard: context.blackboard,
  // The logger is made on first use.
  get logger() {
    return context.logger;
  },
});

/**
 * Turns anything that an agent's own code threw into an Error with a message. Code can throw strings, plain objects,
 * errors of another realm, and errors without a message.
 */
export function asError(thrown: unknown): Error {
  if (thrown instanceof Error && typeof thrown.message === 'string' && thrown.message !== '') return thrown;
  const error = new Error(messageOf(thrown));
  if (thrown instanceof Error) Object.assign(error, { name: thrown.name, stack: thrown.stack, cause: thrown.cause });
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
