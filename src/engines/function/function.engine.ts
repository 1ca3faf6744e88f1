import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import type { EngineFinding } from '../../catalog/configuration-file/engine-kind.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import type { AgentCode } from '../../catalog/stored-definition.js';
import type { JsonObject } from '../../common/json.js';
import { agentContext, asError } from '../agent-code.js';
import { effectOf } from '../effects.js';
import type { AgentArtifact, Engine, EngineEnvironment, ExecutionContext, PreparedEngine } from '../engine.js';
import { UserFrames } from '../user-frames.js';
import { codeOf } from './imported-modules.js';
import { loadProblem } from './load-problem.js';

/** Runs a function of a TypeScript or JavaScript module. Node strips the types. */
export class FunctionEngine implements Engine {
  readonly kind = 'function';

  readonly optionsSchema: JsonObject = {
    description: 'A module whose default export is async (inputs, context) => output',
    type: 'object',
    additionalProperties: false,
    required: ['kind', 'module'],
    properties: {
      kind: { const: 'function' },
      module: {
        description: 'Path of a .ts, .js or .mjs file, relative to this file',
        type: 'string',
        pattern: '\\.(ts|js|mjs)$',
        errorMessage: 'must be the path of a .ts, .js or .mjs file',
      },
      pure: {
        description:
          'A promise that the function answers from its inputs alone and changes nothing outside, so that a replay with mode shadow may call it',
        type: 'boolean',
        default: false,
        errorMessage: 'must be true or false',
      },
    },
  };

  async check(agent: AgentDefinition, { baseDirectory }: { baseDirectory: string }): Promise<EngineFinding[]> {
    const imported = await importAgentModule(moduleOf(agent), baseDirectory);
    return 'problem' in imported ? [{ path: ['module'], message: imported.problem }] : [];
  }

  code(agent: AgentDefinition, { baseDirectory }: { baseDirectory: string }): AgentCode {
    return codeOf(resolve(baseDirectory, moduleOf(agent)), baseDirectory);
  }

  async prepare(agent: AgentDefinition, { baseDirectory }: EngineEnvironment): Promise<PreparedEngine> {
    const imported = await importAgentModule(moduleOf(agent), baseDirectory);
    if ('problem' in imported) throw new Error(`agent ${agent.name}: ${imported.problem}`);
    // Called by itself, a function has its own name in stacks.
    const { run } = imported;
    const prepared: PreparedEngine = {
      async run({ artifacts }, context) {
        try {
          return await run(artifacts, agentContext(context));
        } catch (thrown) {
          throw asError(thrown);
        }
      },
    };
    if (effectOf(agent) !== null) return prepared;
    return {
      ...prepared,
      runInline: async ({ artifacts }, contextOf) => ({ answer: await run(artifacts.map(copyOf), contextOf()) }),
    };
  }
}

/** Functions may change their inputs, and other agents get the same artifact. */
const copyOf = (artifact: AgentArtifact): AgentArtifact => ({
  ...artifact,
  payload: JSON.parse(JSON.stringify(artifact.payload)) as JsonObject,
  tags: [...artifact.tags],
});

const moduleOf = (agent: AgentDefinition): string => agent.engine.module as string;

/** The default export of a function agent's module. */
export type AgentFunction = (inputs: AgentArtifact[], context: ExecutionContext) => unknown;

type ImportedModule = { run: AgentFunction } | { problem: string };

/** A module that awaits something which never happens would otherwise keep the start, or a check, from ending. */
const LONGEST_LOAD_MS = 20_000;

/**
 * Imports an agent's module, once per process. Returns a problem instead of rejecting if the module is missing, throws
 * or does not finish loading.
 */
async function importAgentModule(module: string, baseDirectory: string): Promise<ImportedModule> {
  const path = resolve(baseDirectory, module);
  const { href } = pathToFileURL(path);
  try {
    const loaded = await withinLimit(import(href) as Promise<{ default?: unknown }>);
    if (loaded === null)
      return {
        problem: `${module} has not finished loading after ${LONGEST_LOAD_MS / 1000} s; an await at its top level, or in a module that it imports, waits for something that does not happen`,
      };
    const { default: run } = loaded;
    if (typeof run === 'function') return { run: run as AgentFunction };
    return { problem: `${module} must have a default export of the form async (inputs, context) => output` };
  } catch (error) {
    if (!(await isFile(path))) return { problem: `the file ${path} does not exist` };
    return { problem: `${module} cannot be loaded: ${await loadProblem(error, href, new UserFrames(baseDirectory))}` };
  }
}

/** Resolves with null after the limit. */
async function withinLimit<T>(loading: Promise<T>): Promise<T | null> {
  const done = new AbortController();
  try {
    return await Promise.race([loading, delay(LONGEST_LOAD_MS, null, { signal: done.signal })]);
  } finally {
    done.abort();
  }
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
