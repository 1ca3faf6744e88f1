import { rmSync } from 'node:fs';

import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

const CONFIG = `
agents:
  slow:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    engine: { kind: function, module: ./slow.js }
`;

// The first process never finishes it; the next one finds the gate open.
const SLOW = `import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
export default async ([question], { attempt, signal }) => {
  while (!existsSync(new URL('./open', import.meta.url))) await delay(10, undefined, { signal });
  return { n: question.payload.n, attempt };
};`;

/** Runs the built program as a process, its database, HTTP and SIGKILL. Nothing is faked. */
describe('an answer that was lost in a crash', () => {
  const folder = new ConfigurationFolder();
  let database: TestDatabase;
  let service: Service;

  const start = (): Promise<Service> =>
    Service.start([
      '--config',
      `${folder.path}/starling.yaml`,
      '--database-url',
      database.url,
      '--lease',
      '2s',
      '--log-level',
      'warn',
    ]);

  const send = (path: string, body: object): Promise<Response> =>
    fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-idempotency-key': 'question-1' },
      body: JSON.stringify(body),
    });
  const ask = (): Promise<Response> => send('/api/v1/artifacts/sync', { type: 'Question', payload: { n: 1 } });
  const run = (): Promise<Response> => send('/run/flock', { agent_name: 'slow', inputs: { n: 2 } });

  beforeAll(async () => {
    await builtProgram();
    folder.write('starling.yaml', CONFIG);
    database = await databaseOf(folder.path);
    folder.write('slow.js', SLOW);
    service = await start();
  });

  afterAll(async () => {
    await service?.kill();
    folder.remove();
  });

  it('comes from the same workflow when the request is sent again with its key', async () => {
    const lost = ask().then(
      () => 'answered',
      () => 'lost',
    );
    let correlationId = '';
    await eventually('the agent runs', async () => {
      const { items } = await service.get<{ items: { correlation_id: string }[] }>('/api/v1/artifacts?type=Question');
      correlationId = items[0]!.correlation_id;
      return (await service.get<{ state: string }>(`/api/v1/correlations/${correlationId}/status`)).state === 'active';
    });
    await service.kill('SIGKILL');
    expect(await lost).toBe('lost');

    service = await start();
    const retried = ask();
    folder.write('open', '');
    const response = await retried;
    expect(response.status).toBe(200);
    expect(response.headers.get('x-correlation-id')).toBe(correlationId);
    // The crash cost no attempt.
    expect(await response.json()).toMatchObject({
      completed: true,
      correlation_id: correlationId,
      artifacts: [{ payload: { n: 1, attempt: 1 } }],
    });
    const { pagination } = await service.get<{ pagination: { total: number } }>('/api/v1/artifacts?type=Question');
    expect(pagination.total).toBe(1);

    const replayed = await ask();
    expect(replayed.headers.get('x-idempotency-replayed')).toBe('true');
    expect(await replayed.json()).toMatchObject({ completed: true, correlation_id: correlationId });
  });

  it('comes from the same run when the request is sent again with its key', async () => {
    rmSync(`${folder.path}/open`);
    const lost = run().then(
      () => 'answered',
      () => 'lost',
    );
    const runs = async (): Promise<{ run_id: string; status: string }[]> =>
      (await service.get<{ items: { run_id: string; status: string }[] }>('/api/v1/runs')).items;
    await eventually('the agent runs', async () => (await runs())[0]?.status === 'running');
    const id = (await runs())[0]!.run_id;
    await service.kill('SIGKILL');
    expect(await lost).toBe('lost');

    service = await start();
    const retried = run();
    folder.write('open', '');
    const response = await retried;
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ run_id: id, status: 'completed', result: { n: 2, attempt: 1 } });
    expect((await runs()).map(({ run_id }) => run_id)).toEqual([id]);
  });
});
