// Uses the application, its database and HTTP. The test sets the clock, the time of a deletion, and the ends of
// deliveries: their names resolve to no address.
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { Resolver } from '../../src/http-client/lookups.js';
import { Board } from '../e2e/board.js';
import { ManualClock } from '../support/manual-clock.js';
import { CleanedBoard } from './cleaned-board.js';

const CONFIG = `
server: { retain_deliveries: 40d }
types:
  Note: { retain: 30d }
`;

class NoNames extends Resolver {
  async resolve() {
    return [];
  }
}

describe('targets of webhooks', () => {
  const clock = new ManualClock();
  let board: Board;
  let cleaned: CleanedBoard;

  beforeAll(async () => {
    const settings = { secretKey: '0f'.repeat(32), webhookUrl: 'https://hooks.example/all', shutdownGraceMs: 0 };
    board = await Board.start(CONFIG, { clock, settings, resolver: new NoNames() });
    cleaned = new CleanedBoard(board, clock);
  });
  afterAll(() => board.close());

  async function publish(path: string): Promise<void> {
    await board.http
      .post('/api/v1/artifacts')
      .send({ type: 'Note', webhook: { url: `https://hooks.example${path}`, secret: 'a secret of the client' } })
      .expect(200);
    const ended = { state: 'delivered' as never, ended_at: clock.now() };
    await board.app.app
      .get(UnitOfWork, { strict: false })
      .run((tx) => tx.db.updateTable('deliveries').set(ended).where('ended_at', 'is', null).execute());
  }

  const isStored = async (path: string): Promise<boolean> =>
    (await cleaned.count('webhook_targets', `url = 'https://hooks.example${path}'`)) === 1;

  it("are deleted with the last delivery and the last correlation that names them; the operator's stays", async () => {
    await publish('/once');
    await publish('/again');
    await cleaned.cleanUpAfter(35);
    expect([await isStored('/once'), await isStored('/again')]).toEqual([true, true]);
    await publish('/again');
    await cleaned.cleanUpAfter(10);
    // The next cleanup finds targets that this one has released.
    await cleaned.cleanUpAfter(1);
    expect([await isStored('/once'), await isStored('/again'), await isStored('/all')]).toEqual([false, true, true]);
    expect(await cleaned.count('correlation_targets')).toBe(1);

    await cleaned.cleanUpAfter(45);
    await cleaned.cleanUpAfter(1);
    expect([await isStored('/again'), await isStored('/all'), await cleaned.count('correlation_targets')]).toEqual([
      false,
      true,
      0,
    ]);
  });
});
