// The public API of the package: types for agents in TypeScript, and functions that serve agent classes.
import { failing } from './cli/failures.js';
import { serve as serveUntilSignal, work as workUntilSignal } from './main.js';

export type { AgentOptions, OutputOptions, SubscriptionOptions } from './catalog/agent-options.js';
export type { LastingVisibility, Visibility } from './catalog/visibility.js';
export type { JsonObject, JsonValue } from './common/json.js';
export type {
  AgentArtifact,
  AgentClass,
  BlackboardFilter,
  BlackboardReader,
  ExecutionContext,
  RunnableAgent,
} from './engines/engine.js';
export type { AgentFunction } from './engines/function/function.engine.js';
export { Agent, type ClassAgentOptions } from './engines/provider/agent.decorator.js';
export type { ServeOptions, StartOptions } from './main.js';

/**
 * Runs the command `starling serve` with a team's own agent classes and Nest modules. If it cannot start, it prints the
 * reason to standard error and ends the process.
 */
export const serve = failing(serveUntilSignal);

/** Runs the command `starling worker` in the same way. */
export const work = failing(workUntilSignal);
