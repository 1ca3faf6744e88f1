// Uses the application, its database, the AI SDK and HTTP. The model server is a stand-in. The test drops the answer to
// one commit.
import pg from 'pg';

import { responder, startWithModels } from '../engines/llm/llm-board.js';
import { eventually } from '../support/eventually.js';
import { USED } from '../support/model-server.js';

type Query = (this: pg.Client, sent: { text?: string }, ...more: unknown[]) => Promise<unknown>;

const prototype = pg.Client.prototype as unknown as { query: Query };
const { query } = prototype;
const loseNoAnswer = (): void => void (prototype.query = query);

/** Commits the first write of usage, and then reports a lost connection to the caller. */
function loseOneAnswer(): void {
  const writing = new WeakSet<pg.Client>();
  let isLost = false;
  prototype.query = function (sent, ...more) {
    if (sent.text?.includes('insert into "usage"')) writing.add(this);
    const answer = query.call(this, sent, ...more);
    if (isLost || sent.text !== 'commit' || !writing.delete(this)) return answer;
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
