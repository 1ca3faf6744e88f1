import { eventually } from '../support/eventually.js';
import type { Board } from './board.js';
import { type Held, Outside } from './outside.js';
import { Replicas, SERVER, WORKER } from './replica-boards.js';

const LIMIT = 'limits: { desk: { concurrency: 1, hold: true } }\n';
const PERSON = 'agents: { person: { consumes: [{ types: [Task] }], limits: [desk], engine: { kind: external } } }\n';
const OTHER = 'agents: { other: { consumes: [{ types: [Other] }], engine: { kind: external } } }\n';

/** Uses two apps over HTTP on one Postgres. Only the one that runs no agents has the external agent. */
describe.each([
  ['has the limit', LIMIT + OTHER],
  ['has no limits', OTHER],
])('a limit with hold of an external agent that no worker process has, if the worker process %s', (_, config) => {
  const replicas = new Replicas();

  afterAll(() => replicas.close());

  it('is held until the end, and then the next one can be claimed', async () => {
    await replicas.start(config, { role: WORKER });
    const server = await replicas.start(LIMIT + PERSON, { role: SERVER });
    const outside = new Outside(server.http);
    const claim = (): Promise<Held[]> => outside.claim({ agents: ['person'], max: 10 });
    const first = await server.publish('Task', {});
    const held = await outside.claimOne({ agents: ['person'] });
    await outside.send(held, 'release');
    const second = await server.publish('Task', {});
    const [again, ...others] = await claim();
    expect([again?.correlation_id, others]).toEqual([first, []]);
    expect(await claim()).toEqual([]);
    await outside.send(again!, 'complete', { outputs: [] });
    let next: Held[] = [];
    await eventually('the next one can be claimed', async () => (next = await claim()).length > 0);
    expect(next.map(({ correlation_id: id }) => id)).toEqual([second]);
  });
});

/** Uses apps over HTTP on one Postgres. */
describe('limits with hold, of which a rolling update takes one from the file and adds another one', () => {
  const replicas = new Replicas();
  const person =
    'agents: { person: { consumes: [{ types: [Task], priority: payload.priority }], limits: [desk, room], engine: { kind: external } } }\n';
  const file = (desk: boolean, room: boolean): string =>
    `limits: { desk: { concurrency: 1, hold: ${desk} }, room: { concurrency: 1, hold: ${room} } }\n${person}`;

  afterAll(() => replicas.close());

  it('let no two executions wait for what the other one holds', async () => {
    const released = async (board: Board, priority: number): Promise<string> => {
      const outside = new Outside(board.http);
      const correlation = await board.publish('Task', { priority });
      const [held] = await outside.claim({ agents: ['person'], max: 1 });
      expect(held).toMatchObject({ correlation_id: correlation });
      await outside.send(held!, 'release');
      return correlation;
    };
    const before = await replicas.start(file(true, false));
    const during = await replicas.start(file(false, true));
    const first = await released(before, 0);
    const second = await released(during, 1);
    await replicas.stop(before);
    const after = new Outside((await replicas.start(file(true, true))).http);
    await replicas.stop(during);
    for (const correlation of [second, first]) {
      const held = await after.claimOne({ agents: ['person'], wait: 10 });
      expect(held).toMatchObject({ correlation_id: correlation });
      await after.send(held, 'complete', { outputs: [] });
    }
  });
});
