import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

const CONFIG = `
agents:
  slow: { consumes: [{ types: [Slow] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"n": 1}' } }
  broken: { consumes: [{ types: [Order] }], publishes: [{ type: Done }], engine: { kind: expression, expression: payload.missing }, retry: { attempts: 1 } }
`;

/** Runs the built program as a process, its database, HTTP and SIGKILL. Nothing is faked. */
it('a pause, a deadline and a retry survive a kill of the process', async () => {
  const folder = new ConfigurationFolder();
  const database = await databaseOf(folder.path);
  const config = join(folder.path, 'starling.yaml');
  await writeFile(config, CONFIG);
  const start = (): Promise<Service> =>
    Service.start(['--config', config, '--database-url', database.url, '--lease', '1s', '--log-level', 'warn']);
  let service = await start();
  const post = async (path: string, body: object = {}, correlation?: string): Promise<unknown> => {
    const headers = { 'Content-Type': 'application/json', ...(correlation && { 'X-Correlation-ID': correlation }) };
    const response = await fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect([path, response.status]).toEqual([path, 200]);
    return response.json();
  };
  const stateOf = async (correlation: string): Promise<string> =>
    (await service.get<{ state: string }>(`/api/v1/correlations/${correlation}/status`)).state;
  const comesTo = (correlation: string, state: string) =>
    eventually(`${correlation} is ${state}`, async () => (await stateOf(correlation)) === state);
  try {
    await post('/api/v1/artifacts/sync', { type: 'Order' }, 'retried');
    const { items } = await service.get<{ items: { id: string }[] }>('/api/v1/executions?state=failed');
    for (const agent of ['slow', 'broken']) await post(`/api/v1/agents/${agent}/pause`);
    await post('/api/v1/artifacts', { type: 'Slow' }, 'waits');
    await post('/api/v1/artifacts', { type: 'Slow', deadline: 'PT1S' }, 'overdue');
    expect(await post(`/api/v1/executions/${items[0]!.id}/retry`)).toMatchObject({ state: 'pending', round: 1 });
    await service.kill('SIGKILL');

    service = await start();
    await comesTo('overdue', 'cancelled');
    for (const correlation of ['waits', 'retried']) expect(await stateOf(correlation)).toBe('active');
    expect(await service.get('/api/v1/agents')).toMatchObject({ agents: [{ paused: true }, { paused: true }] });
    for (const agent of ['slow', 'broken']) await post(`/api/v1/agents/${agent}/resume`);
    await comesTo('waits', 'completed');
    await comesTo('retried', 'failed');
    const { attempts } = await service.get<{ attempts: { round: number }[] }>(`/api/v1/executions/${items[0]!.id}`);
    expect(attempts.map(({ round }) => round)).toEqual([0, 1]);
    expect(await service.kill('SIGTERM')).toBe(0);
  } finally {
    await service.kill();
    await database.drop();
    folder.remove();
  }
});
