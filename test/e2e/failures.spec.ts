import { Rollups } from '../../src/blackboard/queries/rollups.js';
import { failureGroupOf } from '../../src/common/failure-group.js';
import { CleanedBoard } from '../retention/cleaned-board.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Receiver } from '../support/receiver.js';
import { ended, send } from './batch-board.js';
import { Board } from './board.js';

// Fails with the error type and the message of its input.
const FAILING = `export default async ([{ payload }]) => {
  if (globalThis.failuresAreMended) return {};
  throw Object.assign(new Error(payload.message), { name: payload.error });
};`;

const agent = (type: string): string =>
  `{ consumes: [{ types: [${type}] }], publishes: [{ type: Done }], engine: { kind: function, module: ./failing.js }, retry: { attempts: 1 } }`;

const CONFIG = `agents:\n  packer: ${agent('Parcel')}\n  courier: ${agent('Trip')}\n`;

interface Group {
  group: string;
  agent: string;
  error_type: string;
  message: string;
  count: number;
  first_at: string;
  last_at: string;
  example: string;
}

interface Page {
  items: Group[];
  pagination: { limit: number; next: string | null; has_more: boolean };
}

/** Uses the whole app over HTTP on a database. The clock is faked, and rollups run only when the test says so. */
describe('GET /api/v1/executions/failures', () => {
  const clock = new ManualClock();
  let board: Board;
  let cleaned: CleanedBoard;

  beforeEach(async () => {
    board = await Board.start(CONFIG, {
      clock,
      files: { 'failing.js': FAILING },
      settings: { retainExecutionsMs: 86_400_000 },
    });
    cleaned = new CleanedBoard(board, clock);
  });

  afterEach(async () => {
    delete (globalThis as { failuresAreMended?: boolean }).failuresAreMended;
    await board.close();
  });

  const page = async (query: object = {}): Promise<Page> =>
    (await board.http.get('/api/v1/executions/failures').query(query).expect(200)).body as Page;
  const counts = async (query: object = {}) =>
    (await page(query)).items.map(({ agent, error_type, message, count }) => [agent, error_type, message, count]);
  const rollUp = () => board.app.app.get(Rollups, { strict: false }).run();

  const executionsOf = async (group: string) => {
    const { body } = await board.http.get('/api/v1/executions').query({ failure_group: group }).expect(200);
    return (body as { items: { id: string; state: string; failure_group: string | null }[] }).items;
  };

  /** Returns the time of the failure. */
  const fail = async (type: string, message: string, error = 'Error'): Promise<string> => {
    const correlation = await board.publish(type, { message, error });
    await board.ended(correlation);
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id: correlation }).expect(200);
    const [execution] = body.items as [{ ended_at: string }];
    return execution.ended_at;
  };

  it('groups failures by agent, error type and normalised message, the latest first, before and after a rollup', async () => {
    const first = await fail('Parcel', 'no parcel 1');
    clock.advance(1_000);
    await fail('Trip', 'no parcel 2');
    clock.advance(1_000);
    await fail('Parcel', 'no parcel 3', 'RangeError');
    clock.advance(1_000);
    const last = await fail('Parcel', 'no parcel 4');
    const expected = [
      ['packer', 'Error', 'no parcel <number>', 2],
      ['packer', 'RangeError', 'no parcel <number>', 1],
      ['courier', 'Error', 'no parcel <number>', 1],
    ];
    const before = await page();
    expect(await counts()).toEqual(expected);
    expect(before.items[0]).toMatchObject({ first_at: first, last_at: last });
    expect(before.items[0]!.group).toBe(failureGroupOf('packer', 'Error', 'no parcel 99').id);
    const members = await executionsOf(before.items[0]!.group);
    expect(members.map(({ state }) => state)).toEqual(['failed', 'failed']);
    expect(members[0]).toMatchObject({ id: before.items[0]!.example, failure_group: before.items[0]!.group });

    await rollUp();
    expect(await page()).toEqual(before);
    clock.advance(1_000);
    await fail('Trip', 'no parcel 5');
    expect((await counts())[0]).toEqual(['courier', 'Error', 'no parcel <number>', 2]);
    await rollUp();
    expect(await counts()).toEqual([['courier', 'Error', 'no parcel <number>', 2], ...expected.slice(0, 2)]);
  });

  it.each([false, true])('has filters and pages (rolled up: %s)', async (rolledUp) => {
    const times: string[] = [];
    for (const [type, message, error] of [
      ['Parcel', 'red', 'Error'],
      ['Parcel', 'green', 'Error'],
      ['Parcel', 'blue', 'TypeError'],
      ['Trip', 'red', 'Error'],
      ['Trip', 'green', 'TypeError'],
    ] as const) {
      times.push(await fail(type, message, error));
      clock.advance(1_000);
      // The last two stay outside of the rollup.
      if (rolledUp && times.length === 3) await rollUp();
    }
    const messages = async (query: object) => (await page(query)).items.map(({ message }) => message);
    expect(await messages({})).toEqual(['green', 'red', 'blue', 'green', 'red']);
    expect(await messages({ agent: 'packer' })).toEqual(['blue', 'green', 'red']);
    expect(await messages({ error_type: 'TypeError' })).toEqual(['green', 'blue']);
    expect(await messages({ agent: 'packer', error_type: 'Error' })).toEqual(['green', 'red']);
    expect(await messages({ from: times[3] })).toEqual(['green', 'red']);
    expect(await messages({ to: times[1] })).toEqual(['green', 'red']);
    expect(await messages({ agent: 'nobody' })).toEqual([]);

    const all: Group[] = [];
    for (let after: string | undefined, more = true; more;) {
      const { items, pagination } = await page({ limit: 2, ...(after && { after }) });
      expect(pagination).toEqual({
        limit: 2,
        after: after ?? null,
        next: pagination.next,
        has_more: pagination.next !== null,
      });
      all.push(...items);
      after = pagination.next ?? undefined;
      more = pagination.has_more;
    }
    expect(all).toEqual((await page()).items);
    expect(await board.http.get('/api/v1/executions/failures').query({ after: 'green' })).toMatchObject({
      status: 400,
      body: { detail: 'after: must be next of an earlier page with the same filters (got "green")' },
    });
  });

  it.each([false, true])('counts no execution that was retried (rolled up: %s)', async (rolledUp) => {
    const first = await fail('Parcel', 'no parcel 1');
    await fail('Parcel', 'no parcel 2');
    if (rolledUp) await rollUp();
    const retry = async (): Promise<void> => {
      const [group] = (await page()).items;
      await board.http.post(`/api/v1/executions/${group!.example}/retry`).expect(200);
      await eventually('it has ended', async () => {
        const { body } = await board.http.get(`/api/v1/executions/${group!.example}`).expect(200);
        return ['completed', 'failed'].includes((body as { state: string }).state);
      });
    };
    await retry();
    expect(await counts()).toEqual([['packer', 'Error', 'no parcel <number>', 2]]);
    Object.assign(globalThis, { failuresAreMended: true });
    await retry();
    expect(await counts()).toEqual([['packer', 'Error', 'no parcel <number>', 1]]);
    expect((await page()).items[0]!.first_at).toBe(first);
    if (rolledUp) await rollUp();
    await retry();
    expect(await page()).toMatchObject({ items: [], pagination: { next: null, has_more: false } });
    await rollUp();
    expect(await page()).toMatchObject({ items: [] });
    expect(await cleaned.count('executions', 'failure_group is not null')).toBe(0);
  });

  it('counts no execution that retention has deleted, and empty groups are deleted too', async () => {
    await fail('Parcel', 'no parcel 1');
    await fail('Parcel', 'no parcel 2');
    await fail('Trip', 'no parcel 2');
    await cleaned.cleanUpAfter(2);
    expect(await page()).toMatchObject({ items: [] });
    await cleaned.cleanUpAfter(1);
    expect(await cleaned.count('failure_groups')).toBe(0);
    expect(await cleaned.count('failure_changes')).toBe(0);
    await fail('Parcel', 'no parcel 3');
    expect(await counts()).toEqual([['packer', 'Error', 'no parcel <number>', 1]]);
  });

  it('counts exactly while many executions of one group fail and the rollup runs', async () => {
    const all = 200;
    const failing = Promise.all(
      Array.from({ length: all }, (_, n) => board.publish('Parcel', { message: `no parcel ${n}`, error: 'Error' })),
    );
    let seen = 0;
    await eventually('all have failed', async () => {
      await rollUp();
      const [{ count } = { count: 0 }] = (await page()).items;
      expect(count).toBeGreaterThanOrEqual(seen);
      seen = count;
      return count === all;
    });
    await failing;
    expect(await cleaned.count('executions', "state = 'failed'")).toBe(all);
  });
});

describe('failures of a remote agent', () => {
  let remote: Receiver;
  let board: Board;

  beforeAll(async () => {
    remote = await Receiver.start();
    // It answers with the status that its input asks for, and always with the same body.
    remote.on('/clerk', (response, { body }) =>
      response.writeHead(Number(/"status":(\d+)/.exec(body)![1])).end('sorry'),
    );
    const engine = `{ kind: http, url: "${remote.url('/clerk')}" }`;
    board = await Board.start(
      `agents: { clerk: { consumes: [{ types: [Case] }], engine: ${engine}, retry: { attempts: 1 } } }`,
    );
  });

  afterAll(async () => {
    await board?.close();
    await remote.close();
  });

  it('with different statuses are in different groups, also in those of a batch', async () => {
    const batch = await send(
      board,
      'clerk',
      [401, 403, 404, 404].map((status) => ({ status })),
    );
    await ended(board, batch);
    const { items } = (await board.http.get('/api/v1/executions/failures').expect(200)).body as Page;
    const found = items.map(({ message, count }) => [message, count]).toSorted();
    expect(found).toEqual([
      ['<number> answered 401: sorry', 1],
      ['<number> answered 403: sorry', 1],
      ['<number> answered 404: sorry', 2],
    ]);
    const { groups } = (await board.http.get(`/batch/${batch}/failures`).expect(200)).body as {
      groups: { message: string; items: number }[];
    };
    expect(groups.map(({ message, items }) => [message, items]).toSorted()).toEqual(
      found.map(([message, count]) => [`clerk failed: ${message}`, count]),
    );
  });
});
