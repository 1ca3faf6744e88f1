// The rules that hold for every model, against a real one: OPENAI_API_KEY asks gpt-5-mini; STARLING_TEST_MODEL names another, such as
// anthropic/claude-haiku-4-5, whose key is in the environment too; STARLING_TEST_MODEL_URL is where it is served, if not at its provider.
import { holdToRules } from './model-rules.js';

const model = process.env.STARLING_TEST_MODEL ?? (process.env.OPENAI_API_KEY ? 'openai/gpt-5-mini' : undefined);
const url = process.env.STARLING_TEST_MODEL_URL;
/** As it was given: specs that run in the same process set keys of their own. */
const { ...environment } = process.env;

if (model) {
  describe(`the model ${model}`, () => {
    holdToRules(async () => {
      Object.assign(process.env, environment);
      return { model, url, close: async () => undefined };
    });
  });
} else {
  process.stdout.write(
    'no real model is asked: set OPENAI_API_KEY, or STARLING_TEST_MODEL and the key of its provider\n',
  );
  // A model needs a key, or a server, of whoever runs this; and Jest fails a file without any test.
  test.skip('no real model is asked', () => undefined);
}
