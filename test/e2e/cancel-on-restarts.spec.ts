// Keys and requests of cancel_on survive restarts. Uses the whole app over HTTP, one after another on one database.
import type { Role } from '../../src/common/role.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { Board } from './board.js';
import { operate } from './operations.js';

const CONFIG = `
agents:
  person: { consumes: [{ types: [Task] }], engine: { kind: external }, cancel_on: { types: [Withdrawn], key: payload.order } }
  pair: { consumes: [{ types: [Left, Right] }], engine: { kind: external }, cancel_on: { types: [Withdrawn], key: artifact.payload.order } }
`;

const WITHOUT_PAIR = `
agents:
  person: { consumes: [{ types: [Task] }], engine: { kind: external } }
`;

describe('after a restart', () => {
  const folder = new ConfigurationFolder();
  let board: Board;

  const start = async (role?: Role, config = CONFIG): Promise<void> => {
    board = await Board.start(config, { role, folder: folder.path });
  };

  afterEach(() => board.close());
  afterAll(() => folder.remove());

  const execution = async (correlation_id: string): Promise<{ id: string; state: string }> => {
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id }).expect(200);
    return (body as { items: { id: string; state: string }[] }).items[0]!;
  };
  const state = async (correlation_id: string): Promise<string> => (await execution(correlation_id)).state;

  const nothingToCancel = (): Promise<void> =>
    eventually(
      'nothing waits to be cancelled',
      async () => (await board.app.database.rows('select id from cancel_requests')).length === 0,
    );

  it('executions have the keys that they were queued with, and what was to be cancelled is cancelled', async () => {
    await start();
    const [one, two] = [await board.publish('Task', { order: 1 }), await board.publish('Task', { order: 2 })];
    await board.close();
    // This process stores that executions are to be cancelled, and has no timers.
    await start({ api: true, worker: false });
    await board.publish('Withdrawn', { order: 1 });
    expect([await state(one), await state(two)]).toEqual(['pending', 'pending']);
    await board.close();
    await start();
    await eventually('it is cancelled', async () => (await state(one)) === 'cancelled');
    await nothingToCancel();
    expect(await state(two)).toBe('pending');
  });

  it('an execution that was ended before it had a key has one when it is retried', async () => {
    // This process has no timers, which compute the keys of joins.
    await start({ api: true, worker: false });
    const pair = await board.publish('Left', { order: 3 });
    await board.publish('Right', {}, { correlation: pair });
    await board.close();
    await start(undefined, WITHOUT_PAIR);
    expect(await operate(board.http, 'fail', { agent: 'pair' })).toMatchObject({ done: 1 });
    await board.close();
    await start();
    const { id } = await execution(pair);
    await board.http.post(`/api/v1/executions/${id}/retry`).expect(200);
    await board.publish('Withdrawn', { order: 3 });
    await eventually('it is cancelled', async () => (await state(pair)) === 'cancelled');
    await nothingToCancel();
  });
});
