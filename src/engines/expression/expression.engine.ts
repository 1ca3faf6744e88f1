import type { AgentDefinition } from '../../catalog/definitions.js';
import type { EngineFinding } from '../../catalog/engine-kind.js';
import type { JsonObject } from '../../common/json.js';
import { checkExpression, expressionWarnings } from '../../expressions/check.js';
import type { Engine, EngineEnvironment, PreparedEngine } from '../engine.js';

/** One CEL expression, whose result is the answer. */
export class ExpressionEngine implements Engine {
  readonly kind = 'expression';

  readonly optionsSchema: JsonObject = {
    description: 'One CEL expression over payload, artifact and inputs; its result is what the agent publishes',
    type: 'object',
    additionalProperties: false,
    required: ['kind', 'expression'],
    properties: {
      kind: { const: 'expression' },
      expression: { description: 'For example {"team": payload.language + "-support"}', type: 'string', minLength: 1 },
    },
  };

  async check(agent: AgentDefinition): Promise<EngineFinding[]> {
    const source = sourceOf(agent);
    const path = ['expression'];
    const problem = checkExpression(source);
    if (problem !== null) return [{ path, message: problem }];
    return expressionWarnings(source).map((message) => ({ path, message, warning: true }));
  }

  async prepare(agent: AgentDefinition, { expressions }: EngineEnvironment): Promise<PreparedEngine> {
    const source = sourceOf(agent);
    return {
      async run({ artifacts, view }) {
        const result = await expressions.evaluate(source, { payload: view, artifact: artifacts[0], inputs: artifacts });
        if (!result.ok) throw new Error(result.error);
        return result.value;
      },
    };
  }
}

const sourceOf = (agent: AgentDefinition): string => agent.engine.expression as string;
