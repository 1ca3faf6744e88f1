import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';
import { type Held, Outside } from './outside.js';
import { withoutPolling } from './replica-boards.js';

const CONFIG = `
limits:
  desk: { concurrency: 2 }
  lamp: { concurrency: 1 }
agents:
  clerk: { consumes: [{ types: [Form] }], limits: [desk], engine: { kind: external } }
  reader: { consumes: [{ types: [Book] }], limits: [lamp], engine: { kind: external } }
`;

const WARN = 40;

/** Uses the whole app over HTTP on Postgres. Nothing is polled, so only the end of an execution lets another one go. */
describe('a limit without room', () => {
  let board: Board;
  let outside: Outside;

  beforeAll(async () => {
    board = withoutPolling(await Board.start(CONFIG, { clock: new ManualClock() }));
    outside = new Outside(board.http);
  });

  afterAll(() => board?.close());

  const waiting = async (limit: string): Promise<number> =>
    ((await board.http.get(`/api/v1/limits/${limit}`).expect(200)).body as { waiting: number }).waiting;

  const complete = async (held: Held): Promise<void> =>
    expect(await outside.send(held, 'complete', { outputs: [] })).toMatchObject({ status: 200 });

  it('is not locked when one of its executions ends, so that claims do not wait', async () => {
    for (let n = 0; n < 2; n += 1) await board.publish('Form', { n });
    const [form] = await outside.claim({ agents: ['clerk'], max: 2 });
    await board.http.put('/api/v1/limits/desk').send({ concurrency: 1 }).expect(200);
    await board.publish('Book', { n: 0 });
    const book = await outside.claimOne({ agents: ['reader'] });
    await board.publish('Form', { n: 2 });
    await board.publish('Book', { n: 1 });
    for (const agent of ['clerk', 'reader']) expect(await outside.claim({ agents: [agent] })).toEqual([]);
    expect([await waiting('desk'), await waiting('lamp')]).toEqual([1, 1]);

    await board.app.database.look(async (rows) => {
      await rows(`select pg_advisory_xact_lock(hashtextextended('limit desk', 0))`);
      // One of two has ended, and one may run.
      await complete(form!);
      await complete(book);
      let next: Held[] = [];
      await eventually('the other limit lets its next one go', async () => {
        next = await outside.claim({ agents: ['reader'] });
        return next.length === 1;
      });
    });
    // The look at the first limit came before, and did not give up waiting for its lock.
    expect(board.app.logLines.filter(({ level }) => Number(level) >= WARN)).toEqual([]);
    expect(await waiting('desk')).toBe(1);
  });
});
