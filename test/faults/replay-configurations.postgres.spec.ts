import { existsSync } from 'node:fs';

import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

const stamper = (engine: string): string =>
  `{ consumes: [{ types: [Question] }], publishes: [{ type: Stamp }], engine: ${engine} }`;
const CONFIG = `types: { Question: {} }\nagents:\n  stamper: ${stamper(`{ kind: expression, expression: '{"stamp": "old"}' }`)}\n`;
const CANDIDATE = `agents:\n  stamper: ${stamper('{ kind: function, module: ./stamp.mjs }')}\n`;

/** The first process that runs it never answers. */
const STAMP = `
  import { existsSync, writeFileSync } from 'node:fs';
  export default (_inputs, { signal }) => {
    const begun = new URL('./begun', import.meta.url);
    if (existsSync(begun)) return { stamp: 'new' };
    writeFileSync(begun, '');
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null)));
  };
`;

/** Runs services as processes on one Postgres, one of which is killed. Nothing is faked. */
describe('a replay whose process is killed', () => {
  const folder = new ConfigurationFolder();
  const services: Service[] = [];
  let database: TestDatabase;

  beforeAll(async () => {
    await builtProgram();
    database = await databaseOf(folder.path);
  });

  afterAll(async () => {
    await Promise.all(services.map((service) => service.kill()));
    await database.drop();
    folder.remove();
  });

  const start = async (...args: string[]): Promise<Service> => {
    const config = folder.write('starling.yaml', CONFIG);
    const more = ['--database-url', database.url, '--lease', '2s', '--log-level', 'warn', ...args];
    const service = await Service.start(['--config', config, ...more]);
    services.push(service);
    return service;
  };
  const post = async (service: Service, path: string, body: object): Promise<Response> =>
    fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Correlation-ID': 'question' },
      body: JSON.stringify(body),
    });
  const statusOf = (service: Service, id: string): Promise<{ state: string; error_count: number }> =>
    service.get(`/api/v1/correlations/${id}/status`);
  const ended = (service: Service, id: string): Promise<void> =>
    eventually('it has ended', async () => (await statusOf(service, id)).state !== 'active');

  it('waits for another process that has its configuration, and ends there', async () => {
    folder.write('candidate/stamp.mjs', STAMP);
    const candidate = ['--replay-config', `candidate=${folder.write('candidate/candidate.yaml', CANDIDATE)}`];
    const lacking = await start();
    const killed = await start(...candidate);
    expect((await post(killed, '/api/v1/artifacts', { type: 'Question', payload: {} })).status).toBe(200);
    await ended(killed, 'question');
    const request = { mode: 'full', configuration: 'candidate' };
    const answer = await post(killed, '/api/v1/correlations/question/replay', request);
    expect(answer.status).toBe(200);
    const { correlation_id: id } = (await answer.json()) as ReplayBody;
    await eventually('it runs', () => existsSync(`${folder.path}/candidate/begun`));
    await killed.kill();
    await eventually('it waits', async () => {
      const { counts } = await lacking.get<{ counts: Record<string, number> }>(`/api/v1/correlations/${id}/waiting`);
      return counts['no_configuration'] === 1;
    });
    await start(...candidate);
    await ended(lacking, id);
    expect(await statusOf(lacking, id)).toMatchObject({ state: 'completed', error_count: 0 });
    const { items } = await lacking.get<{ items: { payload: object }[] }>(
      `/api/v1/artifacts?correlation_id=${id}&type=Stamp`,
    );
    expect(items.map(({ payload }) => payload)).toEqual([{ stamp: 'new' }]);
  });
});
