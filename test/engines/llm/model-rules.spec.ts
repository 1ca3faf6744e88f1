// The rules that hold for every model. Real: the application, the AI SDK and its providers, the MCP SDK and its reference server as a
// process, HTTP. Stood in for: the model servers, one for each wire format; real-model.spec.ts asks a real one the same.
import { ModelServer } from '../../support/model-server.js';
import { MODELS, setKeys } from './llm-board.js';
import { holdToRules } from './model-rules.js';
import { obedientModel } from './obedient-model.js';

describe.each(MODELS)('%s', (model) => {
  holdToRules(async () => {
    setKeys();
    const server = await ModelServer.start(obedientModel);
    return { model, url: server.url, close: () => server.close() };
  });
});
