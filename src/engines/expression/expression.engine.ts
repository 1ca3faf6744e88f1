import { expressionSchema } from '../../catalog/configuration-file/configuration-schema.js';
import type { EngineChecks, EngineFinding } from '../../catalog/configuration-file/engine-kind.js';
import { answerFindings } from '../../catalog/configuration-file/expression-types.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import type { ExpressionVariables } from '../../cel/evaluator.js';
import { checkExpression, expressionWarnings } from '../../cel/language/expression-check.js';
import type { JsonObject } from '../../common/json.js';
import type { Engine, EngineEnvironment, ExecutionInputs, PreparedEngine } from '../engine.js';
import { onceAvailable } from '../once-available.js';

/** Evaluates one CEL expression. Its result is the answer. */
export class ExpressionEngine implements Engine {
  readonly kind = 'expression';

  readonly optionsSchema: JsonObject = {
    description: 'One CEL expression over payload, artifact and inputs; its result is what the agent publishes',
    type: 'object',
    additionalProperties: false,
    required: ['kind', 'expression'],
    properties: {
      kind: { const: 'expression' },
      expression: expressionSchema('For example {"team": payload.language + "-support"}'),
    },
  };

  async check(agent: AgentDefinition, { catalog }: EngineChecks): Promise<EngineFinding[]> {
    const source = sourceOf(agent);
    const path = ['expression'];
    const problem = checkExpression(source);
    if (problem !== null) return [{ path, ...problem }];
    return [
      ...expressionWarnings(source).map((warning) => ({ path, ...warning, warning: true })),
      ...answerFindings(source, agent, catalog).map((finding) => ({ path, ...finding })),
    ];
  }

  async prepare(agent: AgentDefinition, { expressions, clock }: EngineEnvironment): Promise<PreparedEngine> {
    const source = sourceOf(agent);
    return {
      async run(inputs, { signal }) {
        const result = await onceAvailable(() => expressions.evaluate(source, variablesOf(inputs)), clock, signal);
        if (!result.ok) throw new Error(result.error);
        return result.value;
      },
      runInline(inputs) {
        const result = expressions.evaluateNow(source, variablesOf(inputs));
        return result?.ok ? { answer: result.value } : null;
      },
    };
  }
}

const variablesOf = ({ artifacts, view }: ExecutionInputs): ExpressionVariables => ({
  payload: view,
  artifact: artifacts[0],
  inputs: artifacts,
});

const sourceOf = (agent: AgentDefinition): string => agent.engine.expression as string;
