import { KEYS, responder } from '../engines/llm/llm-board.js';
import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { ModelServer } from '../support/model-server.js';
import { Service } from '../support/service.js';

/** Out of at most about 280 that are reserved for a call. */
const CALL = 120;
const QUESTIONS = 20;
/** Enough for two or three parallel calls, and for no further one after these. */
const BUDGET = 2 * 280 + 3 * CALL;

/**
 * Runs two processes of the built program, one of which is killed, their database and HTTP. The model server is a
 * stand-in.
 */
test('the reservation of a killed replica counts as used for the others, which do not overrun the budget', async () => {
  await builtProgram();
  const folder = new ConfigurationFolder();
  const models = await ModelServer.start(() => ({
    text: '{"text":"never said"}',
    halfway: new Promise(() => undefined),
  }));
  folder.write(
    'starling.yaml',
    `budget: { tokens: ${BUDGET} }\n${responder(models, 'max_output_tokens: 50', undefined, `concurrency: ${QUESTIONS}, retry: { attempts: 1 }`)}`,
  );
  const database = await databaseOf(folder.path);
  const start = (): Promise<Service> =>
    Service.start(['--config', `${folder.path}/starling.yaml`, '--database-url', database.url, '--lease', '5s'], KEYS);
  const first = await start();
  for (let n = 0; n < QUESTIONS; n += 1) {
    const headers = { 'content-type': 'application/json', 'x-correlation-id': 'shared' };
    await fetch(`${first.url}/api/v1/artifacts`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ type: 'Question', payload: { text: 'Are you there?' } }),
    });
  }
  const waiting = async (): Promise<number> =>
    (await database.rows('select execution_id from budget_reservations where waits = 1')).length;
  await eventually(
    'those beyond the budget wait',
    async () => models.requests.length + (await waiting()) === QUESTIONS,
  );
  const atOnce = models.requests.length;
  expect(atOnce * 2 * CALL).toBeLessThanOrEqual(BUDGET);
  const second = await start();
  const [reserved] = await database.rows<{ tokens: number }>(
    'select sum(tokens) as tokens from budget_reservations where waits = 0',
  );
  await first.kill('SIGKILL');
  models.answers({ text: '{"text":"said at last"}' });
  type Status = { state: string; error_count: number; usage: { input_tokens: number; output_tokens: number } };
  const status = (): Promise<Status> => second.get<Status>('/api/v1/correlations/shared/status');
  await eventually('the correlation has finished', async () => (await status()).state !== 'active');
  const { state, error_count, usage } = await status();
  expect([state, error_count]).toEqual(['failed', 1]);
  const spent = usage.input_tokens + usage.output_tokens;
  expect(spent).toBeLessThanOrEqual(BUDGET);
  expect(spent).toBe(Number(reserved!.tokens));
  expect(models.requests).toEqual([]);
  expect(await database.rows('select execution_id from budget_reservations')).toEqual([]);
  await second.kill();
  await models.close();
  await database.drop();
  folder.remove();
});
