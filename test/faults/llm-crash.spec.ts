import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { ModelServer } from '../support/model-server.js';
import { Service } from '../support/service.js';
import { KEYS, responder } from '../engines/llm/llm-board.js';

/** Real: the built program as a process that is killed, its database, HTTP. Stood in for: the model server. */
describe('a process that is killed while a model answers', () => {
  const folder = new ConfigurationFolder();
  let models: ModelServer;
  let service: Service | undefined;
  beforeAll(async () => {
    await builtProgram();
    models = await ModelServer.start();
  }, 120_000);
  afterAll(async () => {
    await service?.kill();
    await models.close();
    folder.remove();
  });

  it('repeats the same attempt after its next start, and publishes one answer', async () => {
    folder.write('starling.yaml', responder(models));
    const database = await databaseOf(folder.path);
    const start = (): Promise<Service> => Service.start(['--config', `${folder.path}/starling.yaml`, '--database-url', database.url, '--lease', '1s'], KEYS);
    service = await start();
    models.answers({ text: '{"text":"never said"}', halfway: new Promise(() => undefined) }, { text: '{"text":"said at last"}' });
    await fetch(`${service.url}/api/v1/artifacts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-correlation-id': 'killed' },
      body: JSON.stringify({ type: 'Question', payload: { text: 'Are you there?' } }),
    });
    await eventually('the model answers', () => models.requests.length === 1);
    await service.kill('SIGKILL');
    service = await start();
    await eventually('the correlation has ended', async () => (await service!.get<{ state: string }>('/api/v1/correlations/killed/status')).state === 'completed');
    const { items } = await service.get<{ items: { type: string; payload: object }[] }>('/api/v1/artifacts?correlation_id=killed');
    expect(items.map(({ type, payload }) => [type, payload])).toEqual([
      ['Question', { text: 'Are you there?' }],
      ['Reply', { text: 'said at last' }],
    ]);
    // Its only attempt: a crash is not the agent's fault.
    expect(await database.rows('select attempt, lost_leases, state from executions')).toMatchObject([{ attempt: 1, state: 'completed' }]);
    expect(models.requests.map(({ text }) => text)).toEqual(Array(2).fill(models.requests[0]!.text));
    for (const key of Object.values(KEYS)) expect(service.log.join('\n')).not.toContain(key);
  }, 60_000);
});
