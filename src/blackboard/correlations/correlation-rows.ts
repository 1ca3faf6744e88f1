import { locking } from '../../database/dialects/dialect.js';
import { places, prepared, preparedWithList } from '../../database/prepared.js';
import type { CorrelationState } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { CorrelationRow } from './tracked-correlation.js';

/** The columns with which a generation begins. */
export const REOPENED = {
  state: 'active',
  settled_at: null,
  generation_executions: 0,
  limited_agents: '[]',
  deadline_at: null,
} as const;

const NEW_CORRELATION = {
  ...REOPENED,
  closed: 0,
  generation: 1,
  pending: 0,
  artifact_count: 0,
  error_count: 0,
  output_count: 0,
} as const;

const CHANGEABLE = [
  'closed',
  'generation',
  'pending',
  'artifact_count',
  'error_count',
  'output_count',
  'generation_executions',
  'limited_agents',
  'deadline_at',
  'input_tokens',
  'output_tokens',
  'cost',
  'last_activity_at',
  'settled_at',
] as const;

/** Inserts a correlation, or updates the last activity of the one with this id. Returns it locked. */
export const insertOrTouchCorrelation = prepared<
  { id: string; traceparent: string | null; now: number },
  CorrelationRow
>((db, place) =>
  db
    .insertInto('correlations')
    .values({
      id: place('id'),
      ...NEW_CORRELATION,
      has_run: 0,
      traceparent: place('traceparent'),
      started_at: place('now'),
      last_activity_at: place('now'),
    })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ last_activity_at: place('now') }))
    .returningAll(),
);

/** Returns no row if a correlation with this id exists. */
export const insertCorrelation = prepared<
  { id: string; background: number; hasRun: number; traceparent: string | null; now: number },
  CorrelationRow
>((db, place) =>
  db
    .insertInto('correlations')
    .values({
      id: place('id'),
      ...NEW_CORRELATION,
      background: place('background'),
      has_run: place('hasRun'),
      traceparent: place('traceparent'),
      started_at: place('now'),
      last_activity_at: place('now'),
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returningAll(),
);

/** Finds a correlation and locks it until the transaction ends. */
export const lockCorrelation = prepared<{ id: string }, CorrelationRow>((db, place) =>
  locking(db, db.selectFrom('correlations').selectAll().where('id', '=', place('id')), { wait: true }),
);

/** Writes a correlation whose state has not changed: SQLite writes the indexes of every column that is set. */
export const updateCorrelation = prepared<CorrelationRow, unknown>((db, place) =>
  db.updateTable('correlations').set(places(place, CHANGEABLE)).where('id', '=', place('id')),
);

export const updateCorrelationAndState = prepared<CorrelationRow, unknown>((db, place) =>
  db
    .updateTable('correlations')
    .set(places(place, ['state', ...CHANGEABLE]))
    .where('id', '=', place('id')),
);

export const findCorrelation = (db: Reader, id: string): Promise<CorrelationRow | undefined> =>
  db.selectFrom('correlations').selectAll().where('id', '=', id).executeTakeFirst();

export const findState = prepared<{ correlationId: string }, { state: CorrelationState; generation: number }>(
  (db, place) => db.selectFrom('correlations').select(['state', 'generation']).where('id', '=', place('correlationId')),
);

export const findStates = preparedWithList<object, string, { id: string; state: CorrelationState; generation: number }>(
  (db, _place, ids) => db.selectFrom('correlations').select(['id', 'state', 'generation']).where('id', 'in', ids),
);
