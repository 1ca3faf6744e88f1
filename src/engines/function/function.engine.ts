import type { EngineFinding } from '../../catalog/configuration-file/engine-kind.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import type { JsonObject } from '../../common/json.js';
import { agentContext } from '../agent-context.js';
import type { Engine, EngineEnvironment, PreparedEngine } from '../engine.js';
import { asError } from '../thrown.js';
import { importAgentModule } from './agent-module.js';

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
    },
  };

  async check(agent: AgentDefinition, { baseDirectory }: { baseDirectory: string }): Promise<EngineFinding[]> {
    const imported = await importAgentModule(moduleOf(agent), baseDirectory);
    return 'problem' in imported ? [{ path: ['module'], message: imported.problem }] : [];
  }

  async prepare(agent: AgentDefinition, { baseDirectory }: EngineEnvironment): Promise<PreparedEngine> {
    const imported = await importAgentModule(moduleOf(agent), baseDirectory);
    if ('problem' in imported) throw new Error(`agent ${agent.name}: ${imported.problem}`);
    return {
      async run({ artifacts }, context) {
        try {
          return await imported.run(artifacts, agentContext(context));
        } catch (thrown) {
          throw asError(thrown);
        }
      },
    };
  }
}

const moduleOf = (agent: AgentDefinition): string => agent.engine.module as string;
