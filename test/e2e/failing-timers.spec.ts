import { sql } from 'kysely';

import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  approver: { consumes: [{ types: [Invoice] }], publishes: [{ type: Approval }], engine: { kind: external, due: { after: 1h, then: fail } } }
  pair: { consumes: [{ types: [Left, Right], join: { within: 2h } }], publishes: [{ type: Joined }], engine: { kind: expression, expression: '{}' } }
  echo: { consumes: [{ types: [Order] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{}' } }
`;

const HOUR_MS = 3_600_000;
const LONGEST_PAUSE_MS = 600_000;
/** More than are fired together. */
const MANY = 25;

/**
 * Uses the app, its database, which refuses writes that a test names, and HTTP. The clock stands still until a test
 * moves it.
 */
describe('a timer that cannot be fired', () => {
  const clock = new ManualClock();
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock, settings: { shutdownGraceMs: 0 } });
  });

  afterAll(() => board.close());

  const change = (...statements: string[]): Promise<void> =>
    board.app.app.get(UnitOfWork, { strict: false }).run(async ({ db }) => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    });

  /** Makes the database refuse to delete the timer of an execution's due time. `code` is that of Postgres. */
  const refuse = (code: string): Promise<void> =>
    TEST_DATABASE === 'sqlite'
      ? change(
          `create trigger refusing before delete on timers when old.kind = 'due' begin select raise(abort, 'refused'); end`,
        )
      : change(
          `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused' using errcode = '${code}'; end $$`,
          `create trigger refusing before delete on timers for each row when (old.kind = 'due') execute function refuse()`,
        );

  const allow = (): Promise<void> =>
    TEST_DATABASE === 'sqlite'
      ? change('drop trigger refusing')
      : change('drop trigger refusing on timers', 'drop function refuse');

  const publishDue = (count: number): Promise<string[]> =>
    Promise.all(Array.from({ length: count }, () => board.publish('Invoice', {})));
  const failures = () =>
    board.app.logLines.filter(({ msg }) => msg === 'a timer could not be fired; trying again') as {
      timer: string;
      failures: number;
      next_try: string;
    }[];

  /** Waits until each of them has finished, its execution failed as overdue. */
  async function endAll(correlations: string[]): Promise<void> {
    await allow();
    await eventually('all have finished', async () => {
      clock.advance(LONGEST_PAUSE_MS);
      return (await board.app.database.rows('select id from timers')).length === 0;
    });
    for (const correlation of correlations) {
      expect(await board.ended(correlation)).toMatchObject({ state: 'failed', error_count: 1 });
      expect(await board.types(correlation)).toEqual(['Invoice', 'WorkflowError']);
    }
  }

  it('is postponed, longer every time, so that others pass, and fires when it can', async () => {
    await refuse('P0001');
    const correlations = await publishDue(MANY);
    await change(`insert into timers (id, kind, due_at, subject) values ('bad', 'release', ${clock.now()}, '0')`);
    const hidden = await board.publish('Order', {}, { visibility: { kind: 'After', ttl: 'PT2H' } });
    const alone = await board.publish('Left', {});

    clock.advance(3 * HOUR_MS);
    expect(await board.ended(hidden)).toMatchObject({ state: 'completed', artifact_count: 2 });
    expect(await board.ended(alone)).toMatchObject({ error_count: 1 });
    await eventually('all have failed', () => failures().length > MANY);
    const first = failures();
    expect(first.map(({ timer }) => timer).toSorted()).toEqual([...Array<string>(MANY).fill('due'), 'release']);
    const pauses = (lines: typeof first): number[] => lines.map(({ next_try }) => Date.parse(next_try) - clock.now());
    const longest = Math.max(...pauses(first));

    clock.advance(longest);
    await eventually('all have failed again', () => failures().length === 2 * first.length);
    const second = failures().slice(first.length);
    expect(new Set(second.map(({ failures }) => failures))).toEqual(new Set([2]));
    expect(Math.min(...pauses(second))).toBeGreaterThan(longest);
    const { text } = await board.http.get('/metrics').expect(200);
    expect(text).toContain(`starling_timer_failures_total{kind="due"} ${2 * MANY}\n`);

    await change(`delete from timers where id = 'bad'`);
    await endAll(correlations);
  });

  if (TEST_DATABASE === 'postgres') {
    it('is postponed too if the database reports a temporary failure', async () => {
      await refuse('57014');
      const correlations = await publishDue(3);
      const hidden = await board.publish('Order', {}, { visibility: { kind: 'After', ttl: 'PT2H' } });
      clock.advance(2 * HOUR_MS);
      await eventually('the other one is released', async () => {
        clock.advance(1_000);
        return (await board.status(hidden)).state === 'completed';
      });
      await endAll(correlations);
    });
  }
});
