// Runs the rules for every model with a real one: OPENAI_API_KEY selects gpt-5-mini; STARLING_TEST_MODEL names another,
// such as anthropic/claude-haiku-4-5, whose key must be in the environment too; STARLING_TEST_MODEL_URL is its address,
// if it is not served by its provider.
import { addModelRules } from './model-rules.js';

const model = process.env.STARLING_TEST_MODEL ?? (process.env.OPENAI_API_KEY ? 'openai/gpt-5-mini' : undefined);
const url = process.env.STARLING_TEST_MODEL_URL;
/** The key as it was given: specs in the same process set their own keys. */
const { ...environment } = process.env;

if (model) {
  describe(`the model ${model}`, () => {
    addModelRules(async () => {
      Object.assign(process.env, environment);
      return { model, url, close: async () => undefined };
    });
  });
} else {
  process.stdout.write(
    'no real model is asked: set OPENAI_API_KEY, or STARLING_TEST_MODEL and the key of its provider\n',
  );
  // A model needs a key, or a server, from the person who runs this, and Jest fails a file without any test.
  test.skip('no real model is configured', () => undefined);
}
