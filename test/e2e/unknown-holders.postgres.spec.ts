import { eventually } from '../support/eventually.js';
import { type Held, Outside } from './outside.js';
import { Replicas, SERVER, WORKER } from './replica-boards.js';

const LIMIT = 'limits: { desk: { concurrency: 1 } }\n';
const PERSON = 'agents: { person: { consumes: [{ types: [Task] }], limits: [desk], engine: { kind: external } } }\n';
const CALLER = `agents:
  caller: { consumes: [{ types: [Call] }], limits: [desk], publishes: [{ type: Called }], engine: { kind: expression, expression: '{}' } }
`;

/** Uses two apps over HTTP on one Postgres, with different agents that share a limit. */
describe('a limit of which an agent has a share that another process does not know', () => {
  const replicas = new Replicas();

  afterAll(() => replicas.close());

  it('has no room until a client completes what it has claimed', async () => {
    const worker = await replicas.start(LIMIT + CALLER, { role: WORKER });
    const server = await replicas.start(LIMIT + PERSON, { role: SERVER });
    const outside = new Outside(server.http);
    await server.publish('Task', {});
    const held: Held = await outside.claimOne({ agents: ['person'] });
    const correlation = await worker.publish('Call', {});
    await eventually('the call waits for the limit', async () => {
      const { body } = await worker.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200);
      return (
        (body as { items: { limit: string | null }[] }).items[0]?.limit?.startsWith('limit desk: 1 of 1 used') === true
      );
    });
    await outside.send(held, 'complete', { outputs: [] });
    expect(await worker.ended(correlation)).toMatchObject({ state: 'completed' });
  });
});
