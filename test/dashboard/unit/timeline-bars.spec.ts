// Uses the app's own code: what the timeline draws of an execution.
import { barsOf, rowsOf, shownState, type TracedExecution } from '../../../dashboard/src/views/correlation/rows';

const NOW = 10_000;

const time = (ms: number): string => new Date(ms).toISOString();

type Attempt = TracedExecution['attempts'][number];

const attempt = (from: number | null, to: number | null, error: string | null = null): Attempt =>
  ({
    round: 0,
    attempt: 1,
    started_at: from === null ? null : time(from),
    ended_at: to === null ? null : time(to),
    error_type: error,
  }) as Attempt;

/** Created at 0 ms. */
const execution = (
  state: TracedExecution['state'],
  attempts: Attempt[],
  { ended, next }: { ended?: number; next?: number } = {},
): TracedExecution =>
  ({
    id: 'e1',
    state,
    attempts,
    created_at: time(0),
    ended_at: ended === undefined ? null : time(ended),
    next_attempt_at: next === undefined ? null : time(next),
  }) as TracedExecution;

describe('the bars of an execution', () => {
  it.each<[what: string, of: TracedExecution, bars: string[]]>([
    ['waits for its first attempt', execution('pending', []), ['waiting 0-10000']],
    ['runs', execution('running', [attempt(1_000, null)]), ['waiting 0-1000', 'running 1000-10000']],
    [
      'completed',
      execution('completed', [attempt(1_000, 4_000)], { ended: 4_000 }),
      ['waiting 0-1000', 'completed 1000-4000'],
    ],
    ['began immediately', execution('completed', [attempt(0, 4_000)], { ended: 4_000 }), ['completed 0-4000']],
    [
      'waits for its second attempt',
      execution('pending', [attempt(0, 2_000, 'Error')], { next: 15_000 }),
      ['failed 0-2000', 'retrying 2000-15000'],
    ],
    [
      'failed twice and completed',
      execution('completed', [attempt(0, 1_000, 'Error'), attempt(3_000, 4_000, 'Error'), attempt(7_000, 8_000)], {
        ended: 8_000,
      }),
      ['failed 0-1000', 'retrying 1000-3000', 'failed 3000-4000', 'retrying 4000-7000', 'completed 7000-8000'],
    ],
    [
      'failed',
      execution('failed', [attempt(0, 1_000, 'Error'), attempt(2_000, 3_000, 'Error')], { ended: 3_000 }),
      ['failed 0-1000', 'retrying 1000-2000', 'failed 2000-3000'],
    ],
    ['was cancelled before it ran', execution('cancelled', [], { ended: 3_000 }), ['cancelled 0-3000']],
    [
      'was cancelled while it ran',
      execution('cancelled', [attempt(1_000, null)], { ended: 3_000 }),
      ['waiting 0-1000', 'cancelled 1000-3000'],
    ],
    ['has no time of its attempt', execution('running', [attempt(null, null)]), []],
  ])('that %s', (_, of, bars) => {
    expect(barsOf(of, NOW).map(({ kind, from, to }) => `${kind} ${from}-${to}`)).toEqual(bars);
  });

  it('of a retry is named so, and not pending', () => {
    expect(shownState(execution('pending', [attempt(0, 1, 'Error')]))).toBe('retrying');
    expect(shownState(execution('pending', []))).toBe('pending');
  });
});

describe('the rows of a timeline', () => {
  it('are what clients published and each execution once, in the order of their beginnings', () => {
    const artifact = (id: string, at: number, execution_id: string | null): object => ({
      id,
      execution_id,
      created_at: time(at),
    });
    const page = (artifacts: object[], executions: object[]): never => ({ artifacts, executions }) as never;
    const one = { ...execution('running', []), id: 'one', created_at: time(50) };
    const two = { ...execution('running', []), id: 'two', created_at: time(20) };
    const rows = rowsOf([
      page([artifact('input', 10, null), artifact('output', 60, 'one')], [one, two]),
      page([artifact('later', 90, null)], [{ ...one, state: 'completed' }]),
    ]);
    expect(rows.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      'artifact input',
      'execution two',
      'execution one',
      'artifact later',
    ]);
    // The later page is the newer one.
    expect(rows[2]).toMatchObject({ execution: { state: 'completed' } });
  });
});
