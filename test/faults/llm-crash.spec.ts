import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { type ModelAnswer, ModelServer } from '../support/model-server.js';
import { Service } from '../support/service.js';
import { KEYS, responder } from '../engines/llm/llm-board.js';

const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
/** Notes its process, and what the server is sent. */
const TOOLS = `tools: [{ mcp: { command: sh, args: ['-c', 'echo $$ >> started; tee -a calls | "$0" "$@"', '${process.execPath}', '${EVERYTHING}'] }, allow: [trigger-long-running-operation] }]`;

/** Real: the built program as a process that is killed, its database, a tool server, HTTP. Stood in for: the model server. */
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
    ['while a model answers', { text: '{"text":"never said"}', halfway: new Promise(() => undefined) }, () => models.requests.length === 1],
    ['while a tool works', { tool: 'trigger-long-running-operation', input: { duration: 5, steps: 1 } }, () => readFileSync(join(folder.path, 'calls'), 'utf8').includes('tools/call')],
  ])('%s repeats the same attempt after its next start, and publishes one answer', async (when, first, isThere) => {
    const killed = when.replaceAll(' ', '-');
    folder.write('starling.yaml', responder(models, TOOLS));
    const database = await databaseOf(folder.path);
    const start = (): Promise<Service> => Service.start(['--config', `${folder.path}/starling.yaml`, '--database-url', database.url, '--lease', '1s'], KEYS);
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
    await eventually('the correlation has ended', async () => (await service!.get<{ state: string }>(`/api/v1/correlations/${killed}/status`)).state === 'completed');
    const { items } = await service.get<{ items: { type: string; payload: object }[] }>(`/api/v1/artifacts?correlation_id=${killed}`);
    expect(items.map(({ type, payload }) => [type, payload])).toEqual([
      ['Question', { text: 'Are you there?' }],
      ['Reply', { text: 'said at last' }],
    ]);
    // Its only attempt: a crash is not the agent's fault.
    expect(await database.rows(`select attempt, state from executions where correlation_id = '${killed}'`)).toMatchObject([{ attempt: 1, state: 'completed' }]);
    expect(models.requests.map(({ text }) => text)).toEqual(Array(2).fill(models.requests[0]!.text));
    for (const key of Object.values(KEYS)) expect(service.log.join('\n')).not.toContain(key);
    // A tool server hears that who started it has ended, and ends when what it does is done.
    await eventually('no tool server is left over', () => orphans.every((pid) => !existsSync(`/proc/${pid}`) || /^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))));
    await service.kill();
  });

  it('gives back what its calls of a model have reserved of a budget, and the others that wait for that go on', async () => {
    const concurrent = responder(models, 'max_output_tokens: 50', undefined, 'concurrency: 20, retry: { attempts: 1 }');
    // Room for two calls at once, and for four one after another: each takes 120 of the 280 or so that are reserved for it.
    folder.write('budget.yaml', `budget: { tokens: 700 }\n${concurrent}`);
    const budgets = new ConfigurationFolder();
    const database = await databaseOf(budgets.path);
    const start = (): Promise<Service> => Service.start(['--config', `${folder.path}/budget.yaml`, '--database-url', database.url, '--lease', '1s'], KEYS);
    const reserved = (): Promise<{ waits: number }[]> => database.rows('select waits from budget_reservations');
    service = await start();
    models.requests.length = 0;
    models.script = () => ({ text: '{"text":"never said"}', halfway: new Promise(() => undefined) });
    for (let n = 0; n < 4; n += 1) {
      await fetch(`${service.url}/api/v1/artifacts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-correlation-id': 'budget' },
        body: JSON.stringify({ type: 'Question', payload: { text: 'Are you there?' } }),
      });
    }
    await eventually('two are asked and two wait', async () => models.requests.length === 2 && (await reserved()).filter(({ waits }) => waits === 1).length === 2);
    await service.kill('SIGKILL');
    expect(await reserved()).toHaveLength(4);
    models.answers({ text: '{"text":"said at last"}' });
    service = await start();
    await eventually('the correlation has ended', async () => (await service!.get<{ state: string }>('/api/v1/correlations/budget/status')).state === 'completed');
    const status = await service.get<{ error_count: number; usage: object }>('/api/v1/correlations/budget/status');
    expect(status).toMatchObject({ error_count: 0, usage: { input_tokens: 400, output_tokens: 80 } });
    expect(await database.rows("select attempt, state from executions where correlation_id = 'budget'")).toEqual(Array(4).fill({ attempt: 1, state: 'completed' }));
    expect(await reserved()).toEqual([]);
    await service.kill();
    await database.drop();
    budgets.remove();
  });
});
