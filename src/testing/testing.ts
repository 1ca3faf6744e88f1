// The public API of the package's test kit, `starling-agents/testing`.
import type { StartTestKit } from './start-test-kit.js';

export type { JsonObject, JsonValue } from '../common/json.js';
export type { AgentArtifact } from '../engines/engine.js';
export type { Answer } from './agent-answers.js';
export type { ClaimedWork } from './claimed-work.js';
export type { TestKitOptions } from './start-test-kit.js';
export type { ClaimFields, FailFields, PublishFields, TestKit } from './test-kit.js';
export type { PublishedArtifact, RunWait, TestRun, WorkflowErrorPayload } from './test-run.js';

/**
 * Starts a configuration in this process: a path, a file URL, or an object with the keys of a configuration file. Its
 * database is a temporary file, its time stands still until `advance`, and it takes no setting from `STARLING_...`
 * variables. Rejects with all problems if the configuration is invalid. `close` ends it.
 */
export const startTestKit: StartTestKit = async (configuration, options) => {
  // CommonJS packages require Nest, which is ESM. Jest refuses that while it links Nest as part of the same graph.
  await import('@nestjs/common');
  await import('@nestjs/core');
  const { start } = await import('./start-test-kit.js');
  return start(configuration, options);
};
