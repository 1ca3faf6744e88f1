import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { KEYS, responder } from '../engines/llm/llm-board.js';
import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type ModelAnswer, ModelServer } from '../support/model-server.js';
import { Service } from '../support/service.js';

const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
/** Records its process, and what the server receives. */
const TOOLS = `tools: [{ mcp: { command: sh, args: ['-c', 'echo $$ >> started; tee -a calls | "$0" "$@"', '${process.execPath}', '${EVERYTHING}'] }, allow: [trigger-long-running-operation] }]`;

/**
 * Runs the built program as a process that is killed, its database, a tool server and HTTP. The model server is a
 * stand-in.
 */
describe('a process that is killed', () => {
  const folder = new ConfigurationFolder();
  let models: ModelServer;
  let service: Service | undefined;
  beforeAll(async () => {
    await builtProgram();
    models = await ModelServer.start();
  });
  afterAll(async () => {
    await service?.kill();
    await models.close();
    folder.remove();
  });

  const started = (): number[] => readFileSync(join(folder.path, 'started'), 'utf8').trim().split('\n').map(Number);

  it.each<[string, ModelAnswer, () => boolean]>([
    [
      'while a model answers',
      { text: '{"text":"never said"}', halfway: new Promise(() => undefined) },
      () => models.requests.length === 1,
    ],
    [
      'while a tool works',
      { tool: 'trigger-long-running-operation', input: { duration: 5, steps: 1 } },
      () => readFileSync(join(folder.path, 'calls'), 'utf8').includes('tools/call'),
    ],
  ])('%s repeats the same attempt after its next start, and publishes one answer', async (when, first, isThere) => {
    const killed = when.replaceAll(' ', '-');
    folder.write('starling.yaml', responder(models, TOOLS));
    const database = await databaseOf(folder.path);
    const start = (): Promise<Service> =>
      Service.start(
        ['--config', `${folder.path}/starling.yaml`, '--database-url', database.url, '--lease', '1s'],
        KEYS,
      );
    service = await start();
    models.answers(first, { text: '{"text":"said at last"}' });
    await fetch(`${service.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-correlation-id': killed },
      body: JSON.stringify({ type: 'Question', payload: { text: 'Are you there?' } }),
    });
    await eventually('it works', isThere);
    await service.kill('SIGKILL');
    const orphans = started();
    service = await start();
    await eventually(
      'the correlation has finished',
      async () =>
        (await service!.get<{ state: string }>(`/api/v1/correlations/${killed}/status`)).state === 'completed',
    );
    const { items } = await service.get<{ items: { type: string; payload: object }[] }>(
      `/api/v1/artifacts?correlation_id=${killed}`,
    );
    expect(items.map(({ type, payload }) => [type, payload])).toEqual([
      ['Question', { text: 'Are you there?' }],
      ['Reply', { text: 'said at last' }],
    ]);
    // Its only attempt: a crash is not the agent's failure.
    expect(
      await database.rows(`select attempt, state from executions where correlation_id = '${killed}'`),
    ).toMatchObject([{ attempt: 1, state: 'completed' }]);
    expect(models.requests.map(({ text }) => text)).toEqual(Array(2).fill(models.requests[0]!.text));
    for (const key of Object.values(KEYS)) expect(service.log.join('\n')).not.toContain(key);
    // A tool server notices that its parent has exited, and exits when its work is done.
    await eventually('no tool server is left', () =>
      orphans.every(
        (pid) => !existsSync(`/proc/${pid}`) || /^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')),
      ),
    );
    await service.kill();
  });

  it.each([
    ['continue with the rest of the budget', 1_300, 4, 'completed', 0, 480],
    ['fail if too little is left', 700, 2, 'failed', 1, 0],
  ])(
    'counts the whole reservation of its model calls as used, and the others %s',
    async (_, tokens, questions, state, errors, later) => {
      const concurrent = responder(
        models,
        'max_output_tokens: 50',
        undefined,
        'concurrency: 2, retry: { attempts: 1 }',
      );
      folder.write('budget.yaml', `budget: { tokens: ${tokens} }\n${concurrent}`);
      const budgets = new ConfigurationFolder();
      const database = await databaseOf(budgets.path);
      const start = (): Promise<Service> =>
        Service.start(
          ['--config', `${folder.path}/budget.yaml`, '--database-url', database.url, '--lease', '1s'],
          KEYS,
        );
      const reserved = (): Promise<{ tokens: number }[]> => database.rows('select tokens from budget_reservations');
      service = await start();
      models.requests.length = 0;
      models.script = () => ({ text: '{"text":"never said"}', halfway: new Promise(() => undefined) });
      for (let n = 0; n < questions; n += 1) {
        await fetch(`${service.url}/api/v1/artifacts`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-correlation-id': 'budget' },
          body: JSON.stringify({ type: 'Question', payload: { text: 'Are you there?' } }),
        });
      }
      await eventually('two are asked', () => models.requests.length === 2);
      await service.kill('SIGKILL');
      const killed = (await reserved()).reduce((sum, row) => sum + Number(row.tokens), 0);
      expect(killed).toBeGreaterThan(tokens / 3);
      // Each uses 120.
      models.answers({ text: '{"text":"said at last"}' });
      service = await start();
      const status = () =>
        service!.get<{ state: string; error_count: number; usage: { input_tokens: number; output_tokens: number } }>(
          '/api/v1/correlations/budget/status',
        );
      await eventually('the correlation has finished', async () => (await status()).state !== 'active');
      const { usage, ...ended } = await status();
      expect(ended).toMatchObject({ state, error_count: errors });
      expect(usage.input_tokens + usage.output_tokens).toBe(killed + later);
      expect(models.requests).toHaveLength(later / 120);
      expect(
        (
          await database.rows<{ attempt: number }>("select attempt from executions where correlation_id = 'budget'")
        ).every(({ attempt }) => attempt === 1),
      ).toBe(true);
      expect(await reserved()).toEqual([]);
      await service.kill();
      await database.drop();
      budgets.remove();
    },
  );

  it('counts the whole reservation as used if the correlation is cancelled before it runs again', async () => {
    const budgets = new ConfigurationFolder();
    budgets.write('both.yaml', `budget: { tokens: 10000 }\n${responder(models, 'max_output_tokens: 50')}`);
    // Without the agent, the execution waits.
    budgets.write('none.yaml', 'budget: { tokens: 10000 }\ntypes: { Question: {} }\n');
    const database = await databaseOf(budgets.path);
    const start = (config: string): Promise<Service> =>
      Service.start(['--config', `${budgets.path}/${config}`, '--database-url', database.url, '--lease', '1s'], KEYS);
    models.requests.length = 0;
    models.script = () => ({ text: '{"text":"never said"}', before: new Promise(() => undefined) });
    service = await start('both.yaml');
    await fetch(`${service.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-correlation-id': 'ended' },
      body: JSON.stringify({ type: 'Question', payload: { text: 'Are you there?' } }),
    });
    await eventually('it is asked', () => models.requests.length === 1);
    await service.kill('SIGKILL');
    const [reserved] = await database.rows<{ tokens: number }>('select tokens from budget_reservations');
    service = await start('none.yaml');
    expect((await fetch(`${service.url}/api/v1/correlations/ended/cancel`, { method: 'POST' })).status).toBe(200);
    const { usage } = await service.get<{ usage: { input_tokens: number; output_tokens: number } }>(
      '/api/v1/correlations/ended/status',
    );
    expect(usage.input_tokens + usage.output_tokens).toBe(Number(reserved!.tokens));
    expect(await database.rows('select execution_id from budget_reservations')).toEqual([]);
    await service.kill();
    await database.drop();
    budgets.remove();
  });
});
