// The rules for every model. Uses the application, the AI SDK and its providers, the MCP SDK with its reference server
// as a process, and HTTP. The model servers are stand-ins, one for each wire format; real-model.spec.ts runs the same
// with a real one.
import { ModelServer } from '../../support/model-server.js';
import { MODELS, setKeys } from './llm-board.js';
import { addModelRules } from './model-rules.js';
import { obedientModel } from './obedient-model.js';

describe.each(MODELS)('%s', (model) => {
  addModelRules(async () => {
    setKeys();
    const server = await ModelServer.start(obedientModel);
    return { model, url: server.url, close: () => server.close() };
  });
});
