// Uses the application, its database, the AI SDK and HTTP. The model server is a stand-in. The test drops the answer to
// one commit.
import type { ClientBase } from 'pg';

import { Batch, type Query } from '../../src/database/dialects/postgres-batch.js';
import { responder, startWithModels } from '../engines/llm/llm-board.js';
import { eventually } from '../support/eventually.js';
import { USED } from '../support/model-server.js';

const { add } = Batch.prototype;
const loseNoAnswer = (): void => void (Batch.prototype.add = add);

/** Commits the first write of usage, and then reports a lost connection to the caller. */
function loseOneAnswer(): void {
  const writing = new WeakSet<ClientBase>();
  let isLost = false;
  Batch.prototype.add = function (this: Batch, query: Query) {
    if (query.text.includes('insert into "usage"')) writing.add(this.client);
    const answer = add.call(this, query);
    if (isLost || query.text !== 'commit' || !writing.delete(this.client)) return answer;
    isLost = true;
    return answer.then(() => {
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
    });
  };
}

afterEach(loseNoAnswer);

test.each([
  ['of a success', ['{"text":"It is on its way."}'], 'completed'],
  ['of a failure', ['no'], 'failed'],
])('the usage of an attempt counts once, even if the answer to the commit %s is lost', async (_of, texts, state) => {
  const { board, models, close } = await startWithModels(responder);
  models.answers(...texts.map((text) => ({ text })));
  loseOneAnswer();
  const { correlation_id: correlation } = await board.publishSync('Question', { text: 'Where?' });
  await eventually('the outcome has been queried again', () =>
    board.app.logLines.some(({ outcome }) => outcome === 'discarded'),
  );
  loseNoAnswer();

  const { body } = await board.http.get(`/api/v1/correlations/${correlation}/status`).expect(200);
  const calls = models.requests.length;
  expect(body).toMatchObject({
    state,
    usage: { input_tokens: calls * USED.input, output_tokens: calls * USED.output },
  });
  await close();
});
