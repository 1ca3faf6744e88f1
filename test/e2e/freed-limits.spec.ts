import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';
import { type Held, Outside } from './outside.js';
import { withoutPolling } from './replica-boards.js';

const CONFIG = `
limits: { desk: { concurrency: 1 } }
agents:
  clerk: { consumes: [{ types: [Form] }], limits: [desk], engine: { kind: external } }
  person: { consumes: [{ types: [Task] }], limits: [desk], engine: { kind: external } }
`;

/** Uses the whole app over HTTP. The clock stands still and nothing is polled, so only the end itself lets another one go. */
describe('an execution that waits for the limit of one that a client has claimed', () => {
  let board: Board;
  let outside: Outside;

  beforeEach(async () => {
    board = withoutPolling(await Board.start(CONFIG, { clock: new ManualClock() }));
    outside = new Outside(board.http);
  });

  afterEach(() => board?.close());

  const limitOf = async (correlation: string): Promise<string | null> => {
    const { body } = await board.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200);
    return (body as { items: { limit: string | null }[] }).items[0]?.limit ?? null;
  };

  it.each([
    ['complete', { outputs: [] }],
    ['fail', { error_type: 'unreadable', error_message: 'it cannot be read', final: true }],
    ['release', {}],
  ] as const)('can be claimed after %s', async (what, body) => {
    await board.publish('Task', {});
    const held = await outside.claimOne({ agents: ['person'] });
    const next = await board.publish('Form', {});
    expect(await outside.claim({ agents: ['clerk'] })).toEqual([]);
    await eventually('the next one waits for the limit', async () =>
      ((await limitOf(next)) ?? '').startsWith('limit desk: 1 of 1 used'),
    );
    expect(await outside.send(held, what, body)).toMatchObject({ status: 200 });
    let claimed: Held[] = [];
    await eventually('the next one can be claimed', async () => {
      claimed = await outside.claim({ agents: ['clerk'] });
      return claimed.length > 0;
    });
    expect(claimed.map(({ correlation_id: id }) => id)).toEqual([next]);
  });
});
