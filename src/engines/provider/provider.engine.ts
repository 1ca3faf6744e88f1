import type { AgentDefinition } from '../../catalog/definitions.js';
import type { JsonObject } from '../../common/json.js';
import { agentContext, asError } from '../agent-code.js';
import type { AgentClass, Engine, EngineEnvironment, PreparedEngine } from '../engine.js';
import { PROVIDER } from './agent.decorator.js';

/** Calls the `execute` method of an agent class. */
export class ProviderEngine implements Engine {
  readonly kind = PROVIDER;
  readonly optionsSchema: JsonObject = {};

  async check(): Promise<[]> {
    return [];
  }

  async prepare(agent: AgentDefinition, { instanceOf }: EngineEnvironment): Promise<PreparedEngine> {
    const agentClass = agent.engine.agentClass as AgentClass;
    return {
      async run({ artifacts }, context) {
        try {
          // Resolved at each run: when engines are prepared, the instance may not exist yet.
          return await instanceOf(agentClass).execute(artifacts, agentContext(context));
        } catch (thrown) {
          throw asError(thrown);
        }
      },
    };
  }
}
