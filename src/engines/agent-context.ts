import type { EngineContext, ExecutionContext } from './engine.js';

/**
 * What agents' own code is given: the same as its type says, at run time too. The rest of an engine's context is the service's, such as the
 * token that ends the attempt over the API.
 */
export const agentContext = (context: EngineContext): ExecutionContext => ({
  executionId: context.executionId,
  correlationId: context.correlationId,
  attempt: context.attempt,
  traceparent: context.traceparent,
  signal: context.signal,
  blackboard: context.blackboard,
  // Made when it is first asked for.
  get logger() {
    return context.logger;
  },
});
