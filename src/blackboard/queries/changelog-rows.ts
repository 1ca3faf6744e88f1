import { memoize, prepared, preparedWithList } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifact.js';
import { NO_FILTER } from './artifact-filter.js';
import { type OrderedPath, type Path, type Window, along, routesOf } from './artifact-paths.js';
import { narrowest } from './narrowest-route.js';

/** An artifact without its payload and tags, which can be large. */
export type ChangelogRow = Pick<ArtifactRow, (typeof COLUMNS)[number]>;

/** Which artifacts a reader of the changelog asks for: of each list any, and where it is empty, all. */
export interface ChangelogFilter {
  readonly correlationIds: readonly string[];
  readonly types: readonly string[];
  readonly producers: readonly string[];
}

const COLUMNS = ['seq', 'id', 'type', 'produced_by', 'correlation_id', 'visibility', 'created_at'] as const;

/** The paths to all that a filter asks for, and perhaps to more. */
export async function pathsOf(db: Reader, { correlationIds, types, producers }: ChangelogFilter): Promise<readonly Path[]> {
  // What belongs to a correlation is few nearly always.
  if (correlationIds.length > 0) return [...new Set(correlationIds)].map((value) => ({ by: 'correlation_id', value }));
  const { paths } = await narrowest(db, routesOf({ ...NO_FILTER, types, producers }));
  return paths;
}

/** The first `limit` artifacts along some paths, within a window, in order. */
export async function rowsAlong(db: Reader, paths: readonly Path[], window: Window, limit: number): Promise<ChangelogRow[]> {
  if (paths.length > 1) return rowsAt(db, {}, await firstAlong(db, paths, window, limit));
  const path = paths[0] as OrderedPath;
  return rowsBy(path.by)(db, { value: path.by === 'all' ? '' : path.value, ...window, limit });
}

/** Each path gives its first positions, and the first of these are the page. */
async function firstAlong(db: Reader, paths: readonly Path[], window: Window, limit: number): Promise<number[]> {
  const [first, ...others] = paths.map((path) =>
    db.selectFrom(along(db, path, window).select('step.seq').orderBy('step.key').limit(limit).as('part')).select('part.seq'),
  );
  const rows = await others.reduce((all, part) => all.unionAll(part), first!).orderBy('seq').limit(limit).execute();
  return rows.map(({ seq }) => seq);
}

interface Stretch extends Window {
  value: string;
  limit: number;
}

const rowsBy = memoize((by: OrderedPath['by']) =>
  prepared<Stretch, ChangelogRow>((db, place) => {
    const rows = db
      .selectFrom('artifacts')
      .select(COLUMNS)
      .where('seq', '>', place('low'))
      .where('seq', '<=', place('high'))
      .orderBy('seq')
      .limit(place('limit'));
    return by === 'all' ? rows : rows.where(by as 'type', '=', place('value'));
  }),
);

const rowsAt = preparedWithList<object, number, ChangelogRow>((db, _place, seqs) =>
  db.selectFrom('artifacts').select(COLUMNS).where('seq', 'in', seqs).orderBy('seq'),
);

/** 0 where there is none. */
export async function lastUpTo(db: Reader, position: number): Promise<number> {
  const [row] = await findLast(db, { position });
  return row?.seq ?? 0;
}

const findLast = prepared<{ position: number }, { seq: number }>((db, place) =>
  db.selectFrom('artifacts').select('seq').where('seq', '<=', place('position')).orderBy('seq', 'desc').limit(1),
);

/** The last position behind another at which an artifact of these types was deleted; of any type where none is named. Null where none was. */
export async function deletedBehind(db: Reader, position: number, types: readonly string[]): Promise<number | null> {
  // A row for each type, so few.
  const deleted = await findDeletions(db, { position });
  const upTo = deleted.filter(({ type }) => types.length === 0 || types.includes(type)).map(({ up_to_seq }) => up_to_seq);
  return upTo.length > 0 ? Math.max(...upTo) : null;
}

const findDeletions = prepared<{ position: number }, { type: string; up_to_seq: number }>((db, place) =>
  db.selectFrom('artifact_deletions').select(['type', 'up_to_seq']).where('up_to_seq', '>', place('position')),
);
