// Keys and requests of cancel_on survive restarts. Uses the whole app over HTTP, one after another on one database.
import type { Role } from '../../src/common/role.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  person: { consumes: [{ types: [Task] }], engine: { kind: external }, cancel_on: { types: [Withdrawn], key: payload.order } }
`;

describe('after a restart', () => {
  const folder = new ConfigurationFolder();
  let board: Board;

  const start = async (role?: Role): Promise<void> => {
    board = await Board.start(CONFIG, { role, folder: folder.path });
  };

  afterEach(() => board.close());
  afterAll(() => folder.remove());

  const state = async (correlation_id: string): Promise<string> => {
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id }).expect(200);
    return (body as { items: { state: string }[] }).items[0]!.state;
  };

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
    expect(await state(two)).toBe('pending');
    expect(await board.app.database.rows('select id from cancel_requests')).toEqual([]);
  });
});
