// What a team imports to write agents in TypeScript, and to serve those that are classes.
import { failing } from './cli/failures.js';
import { serve as serveUntilSignal } from './cli/serve.js';
import { work as workUntilSignal } from './cli/worker.js';

export type { AgentOptions, OutputOptions, SubscriptionOptions } from './catalog/agent-options.js';
export type { LastingVisibility, Visibility } from './catalog/visibility.js';
export type { JsonObject, JsonValue } from './common/json.js';
export type { AgentArtifact, AgentClass, BlackboardFilter, BlackboardReader, ExecutionContext, RunnableAgent } from './engines/engine.js';
export type { ServeOptions } from './cli/serve.js';
export type { StartOptions } from './cli/start.js';
export type { AgentFunction } from './engines/function/agent-module.js';
export { Agent, type ClassAgentOptions } from './engines/provider/agent.decorator.js';

/**
 * The command `starling serve` with agent classes and Nest modules of a team's own. Where it cannot start, it says why on
 * standard error and ends the process.
 */
export const serve = failing(serveUntilSignal);

/** The command `starling worker`, in the same way. */
export const work = failing(workUntilSignal);
