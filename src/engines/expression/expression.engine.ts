import { expressionSchema } from '../../catalog/configuration-file/configuration-schema.js';
import type { EngineChecks, EngineFinding } from '../../catalog/configuration-file/engine-kind.js';
import { answerFindings } from '../../catalog/configuration-file/expression-types.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { checkExpression, expressionWarnings } from '../../cel/language/expression-check.js';
import type { Clock } from '../../common/clock.js';
import { isUnavailable } from '../../common/domain-error.js';
import type { JsonObject } from '../../common/json.js';
import type { Engine, EngineEnvironment, PreparedEngine } from '../engine.js';

const ASK_AGAIN_AFTER_MS = 1_000;

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
      async run({ artifacts, view }, { signal }) {
        const variables = { payload: view, artifact: artifacts[0], inputs: artifacts };
        const result = await onceAvailable(() => expressions.evaluate(source, variables), clock, signal);
        if (!result.ok) throw new Error(result.error);
        return result.value;
      },
    };
  }
}

/**
 * Retries while the evaluator is unavailable, until the signal is aborted: that is not the agent's fault and must not
 * cost an attempt.
 */
async function onceAvailable<Result>(ask: () => Promise<Result>, clock: Clock, signal: AbortSignal): Promise<Result> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await pause(clock, ASK_AGAIN_AFTER_MS, signal);
    }
  }
}

/** Rejects with the signal's reason as soon as the signal is aborted. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    const cancel = clock.at(clock.now() + ms, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}

const sourceOf = (agent: AgentDefinition): string => agent.engine.expression as string;
