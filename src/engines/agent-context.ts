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
