import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';
import { type Held, Outside } from './outside.js';
import { withoutPolling } from './replica-boards.js';

const CONFIG = `
limits: { desk: { concurrency: 1 } }
agents:
  clerk: { consumes: [{ types: [Form] }], limits: [desk], engine: { kind: external } }
  hasty:
    consumes: [{ types: [Errand] }]
    limits: [desk]
    cancel_on: { types: [Off], key: payload.order }
    timeout: 1h
    engine: { kind: external, due: { after: 30m, then: fail } }
  person: { consumes: [{ types: [Task] }], limits: [desk], engine: { kind: external } }
`;

/** Uses the whole app over HTTP. The clock stands still and nothing is polled, so only the end itself lets another one go. */
describe('an execution that waits for the limit of one that a client has claimed', () => {
  let clock: ManualClock;
  let board: Board;
  let outside: Outside;

  beforeEach(async () => {
    clock = new ManualClock();
    board = withoutPolling(await Board.start(CONFIG, { clock, settings: { leaseMs: 3_600_000 } }));
    outside = new Outside(board.http);
  });

  afterEach(() => board?.close());

  const limitOf = async (correlation: string): Promise<string | null> => {
    const { body } = await board.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200);
    return (body as { items: { limit: string | null }[] }).items[0]?.limit ?? null;
  };

  const waitsForDesk = (correlation: string): Promise<void> =>
    eventually('it waits for the limit', async () =>
      ((await limitOf(correlation)) ?? '').startsWith('limit desk: 1 of 1 used'),
    );

  const isNext = async (correlation: string): Promise<void> => {
    let claimed: Held[] = [];
    await eventually('the next one can be claimed', async () => {
      claimed = await outside.claim({ agents: ['clerk'] });
      return claimed.length > 0;
    });
    expect(claimed.map(({ correlation_id: id }) => id)).toEqual([correlation]);
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
    await waitsForDesk(next);
    expect(await outside.send(held, what, body)).toMatchObject({ status: 200 });
    await isNext(next);
  });

  it.each<[string, { deadline?: string }, (id: string) => unknown]>([
    [
      'its correlation is cancelled',
      {},
      (id: string) => board.http.post(`/api/v1/correlations/${id}/cancel`).expect(200),
    ],
    ['its deadline passes', { deadline: 'PT20S' }, () => clock.advance(30_000)],
    ['an artifact cancels it', {}, () => board.publish('Off', { order: 'A' })],
    ['it is due', {}, () => clock.advance(31 * 60_000)],
  ])('can be claimed when %s', async (_, parts, end) => {
    const errand = await board.publish('Errand', { order: 'A' }, parts);
    await outside.claimOne({ agents: ['hasty'] });
    const next = await board.publish('Form', {});
    expect(await outside.claim({ agents: ['clerk'] })).toEqual([]);
    await waitsForDesk(next);
    await end(errand);
    await isNext(next);
  });

  it('can be claimed when its lease ends and its agent is paused', async () => {
    await board.publish('Task', {});
    await outside.claimOne({ agents: ['person'] });
    const next = await board.publish('Form', {});
    expect(await outside.claim({ agents: ['clerk'] })).toEqual([]);
    await waitsForDesk(next);
    await board.http.post('/api/v1/agents/person/pause').expect(200);
    clock.advance(62_000);
    await isNext(next);
  });
});
