import { asError } from '../engines/agent-code.js';
import type { Engine } from '../engines/engine.js';
import { ALL_ENGINES } from '../engines/engine-registry.js';
import { LlmEngine } from '../engines/llm/llm.engine.js';
import type { Answers } from './agent-answers.js';
import type { RecordedModels } from './recorded-models.js';

/** The engines of a test: agents may have an answer, and models answer from recordings. */
export const testEngines = (answers: Answers, models: RecordedModels): Engine[] =>
  ALL_ENGINES.map((engine) => answering(engine instanceof LlmEngine ? new LlmEngine(models.load) : engine, answers));

function answering(engine: Engine, answers: Answers): Engine {
  return {
    kind: engine.kind,
    optionsSchema: engine.optionsSchema,
    check: (agent, checks) => engine.check(agent, checks),
    async prepare(agent, environment) {
      const prepared = await engine.prepare(agent, environment);
      return {
        async run(inputs, context) {
          if (!answers.has(agent.name)) return prepared.run(inputs, context);
          try {
            return await answers.of(agent.name, inputs.artifacts);
          } catch (thrown) {
            throw asError(thrown);
          }
        },
      };
    },
  };
}
