import { type Compilable, sql } from 'kysely';

import { locking } from '../../database/dialects/dialect.js';
import { places, type Prepared, prepared, preparedWithList } from '../../database/prepared.js';
import type { CorrelationState } from '../../database/schema.js';
import { insertGiven, type ManyForm, sharedInsert, sharing, updateGiven } from '../../database/shared-statement.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { CorrelationFields, CorrelationRow } from './tracked-correlation.js';

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

const INSERTED = [
  ...(Object.keys(NEW_CORRELATION) as (keyof typeof NEW_CORRELATION)[]),
  'id',
  'background',
  'has_run',
  'traceparent',
  'origin',
  'replay_mode',
  'replay_options',
  'started_at',
  'last_activity_at',
] as const;

/** The columns that make a correlation a replay. */
export type ReplayColumns = Pick<CorrelationRow, 'origin' | 'replay_mode' | 'replay_options'>;

/** Their values in every other correlation. */
export const NO_REPLAY: ReplayColumns = { origin: null, replay_mode: null, replay_options: null };

/** How a correlation begins, with its value of `has_run`. Most begin with a published artifact. */
export const HAS_RUN = { published: 0, run: 1, invoked: 2 } as const;

interface Opened {
  id: string;
  traceparent: string | null;
  now: number;
}

type Created = Opened & ReplayColumns & { background: number; hasRun: number };

export type NewCorrelation = Opened & Partial<ReplayColumns> & { background?: number; has_run: number };

/** The columns of a correlation that is not stored yet. */
export function fieldsOf({ now, ...given }: NewCorrelation): CorrelationFields {
  return {
    ...{ ...NEW_CORRELATION, ...NO_REPLAY, background: 0, ...given, started_at: now, last_activity_at: now },
    ...{ deleted_artifacts: 0, deleted_errors: 0, webhook_targets: 0, terms: '[]' },
    ...{ input_tokens: 0, output_tokens: 0, cost: null },
  };
}

/** Inserts correlations as they are when the transaction ends. Their ids must be new: it fails if one is stored. */
export const insertNewCorrelations = sharedInsert('correlations', [...new Set([...INSERTED, ...CHANGEABLE])]);

function insertForm<Values>(
  valuesOf: (values: Values) => NewCorrelation,
  finish: (insert: ReturnType<typeof insertGiven<'correlations'>>) => Compilable<CorrelationRow>,
): ManyForm<Values, CorrelationRow> {
  return {
    table: 'correlations',
    columns: INSERTED,
    rowOf: (values) => fieldsOf(valuesOf(values)),
    key: 'id',
    answers: true,
    addsRows: false,
    build: (db, given) => finish(insertGiven(db, 'correlations', INSERTED, given)),
  };
}

/** Inserts a correlation, or updates the last activity of the one with this id. Returns it locked. */
export const insertOrTouchCorrelation = sharing(
  prepared<Opened, CorrelationRow>((db, place) =>
    db
      .insertInto('correlations')
      .values({
        id: place('id'),
        ...NEW_CORRELATION,
        has_run: HAS_RUN.published,
        traceparent: place('traceparent'),
        started_at: place('now'),
        last_activity_at: place('now'),
      })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ last_activity_at: place('now') }))
      .returningAll(),
  ),
  insertForm<Opened>(
    ({ id, traceparent, now }) => ({ id, traceparent, has_run: HAS_RUN.published, now }),
    (insert) =>
      insert
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({ last_activity_at: sql.ref('excluded.last_activity_at') }),
        )
        .returningAll(),
  ),
);

/** Returns no row if a correlation with this id exists. */
export const insertCorrelation = sharing(
  prepared<Created, CorrelationRow>((db, place) =>
    db
      .insertInto('correlations')
      .values({
        id: place('id'),
        ...NEW_CORRELATION,
        background: place('background'),
        has_run: place('hasRun'),
        traceparent: place('traceparent'),
        ...places(place, ['origin', 'replay_mode', 'replay_options']),
        started_at: place('now'),
        last_activity_at: place('now'),
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returningAll(),
  ),
  insertForm<Created>(
    ({ hasRun, ...created }) => ({ ...created, has_run: hasRun }),
    (insert) => insert.onConflict((conflict) => conflict.column('id').doNothing()).returningAll(),
  ),
);

/** Finds a correlation and locks it until the transaction ends. */
export const lockCorrelation = sharing(
  prepared<{ id: string }, CorrelationRow>((db, place) =>
    locking(db, db.selectFrom('correlations').selectAll().where('id', '=', place('id')), { wait: true }),
  ),
  {
    table: 'correlations',
    columns: ['id'],
    rowOf: ({ id }) => ({ id }),
    key: 'id',
    answers: true,
    addsRows: false,
    build: (db, given) =>
      db
        .selectFrom('correlations')
        .selectAll()
        .where(sql<boolean>`id = any(array(select given.id from ${given}))`)
        .orderBy('id')
        .forUpdate(),
  },
);

/** Writes a correlation whose state has not changed: SQLite writes the indexes of every column that is set. */
export const updateCorrelation = updating(CHANGEABLE);

export const updateCorrelationAndState = updating(['state', ...CHANGEABLE]);

function updating(columns: readonly (keyof CorrelationFields)[]): Prepared<CorrelationFields, unknown> {
  return sharing<CorrelationFields, unknown>(
    prepared((db, place) => db.updateTable('correlations').set(places(place, columns)).where('id', '=', place('id'))),
    {
      table: 'correlations',
      columns: ['id', ...columns],
      rowOf: (row) => row,
      key: 'id',
      answers: false,
      addsRows: false,
      build: (db, given) => updateGiven(db.updateTable('correlations'), { table: 'correlations', columns, given }),
    },
  );
}

export const findCorrelation = (db: Reader, id: string): Promise<CorrelationRow | undefined> =>
  db.selectFrom('correlations').selectAll().where('id', '=', id).executeTakeFirst();

export const findState = prepared<{ correlationId: string }, { state: CorrelationState; generation: number }>(
  (db, place) => db.selectFrom('correlations').select(['state', 'generation']).where('id', '=', place('correlationId')),
);

export const findStates = preparedWithList<object, string, { id: string; state: CorrelationState; generation: number }>(
  (db, _place, ids) => db.selectFrom('correlations').select(['id', 'state', 'generation']).where('id', 'in', ids),
);
