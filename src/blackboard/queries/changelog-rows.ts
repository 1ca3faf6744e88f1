import { sql } from 'kysely';
import { memoize, prepared, preparedWithList } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { NO_FILTER } from './artifact-filter.js';
import { type OrderedPath, type Path, type Window, along, routesOf } from './artifact-paths.js';
import { narrowest } from './narrowest-route.js';

/** An artifact without its payload and tags, which can be large. */
export type ChangelogRow = Pick<ArtifactRow, (typeof COLUMNS)[number] | 'visibility'>;

/** What a query finds first: the visibility only where it is small. */
type FoundRow = Pick<ArtifactRow, (typeof COLUMNS)[number]> & { visibility: string | null; visibility_bytes: number };

/** The first artifacts of a window. */
export interface ChangelogPage {
  rows: ChangelogRow[];
  /** How far in the window it goes. */
  upTo: number;
  /** Nothing comes behind it in the window. */
  isAll: boolean;
}

/** Which artifacts a reader of the changelog asks for: of each list any, and where it is empty, all. */
export interface ChangelogFilter {
  readonly correlationIds: readonly string[];
  readonly types: readonly string[];
  readonly producers: readonly string[];
}

const COLUMNS = ['seq', 'id', 'type', 'produced_by', 'correlation_id', 'created_at'] as const;

/** Bytes of a visibility that is read with its row. One that names a thousand agents has hundreds of kilobytes. */
const MOST_WITH_ROW = 512;
/** Bytes of the larger ones on one page; the first of them always fits. */
const MOST_ON_PAGE = 256 * 1_024;

const VISIBILITY = [
  sql<number>`octet_length(artifacts.visibility)`.as('visibility_bytes'),
  sql<string | null>`case when octet_length(artifacts.visibility) <= ${sql.lit(MOST_WITH_ROW)} then artifacts.visibility end`.as('visibility'),
] as const;

/** The paths to all that a filter asks for, and perhaps to more. */
export async function pathsOf(db: Reader, { correlationIds, types, producers }: ChangelogFilter): Promise<readonly Path[]> {
  // What belongs to a correlation is few nearly always.
  if (correlationIds.length > 0) return [...new Set(correlationIds)].map((value) => ({ by: 'correlation_id', value }));
  const { paths } = await narrowest(db, routesOf({ ...NO_FILTER, types, producers }));
  return paths;
}

/** The first artifacts along some paths, within a window, in order: at most `limit`, and no more than one page holds in bytes. */
export async function pageAlong(db: Reader, paths: readonly Path[], window: Window, limit: number): Promise<ChangelogPage> {
  const found = await rowsAlong(db, paths, window, limit);
  const fitting = found.slice(0, fittingRows(found));
  const isAll = found.length < limit && fitting.length === found.length;
  return { rows: await whole(db, fitting), upTo: isAll ? window.high : fitting.at(-1)!.seq, isAll };
}

/** How many of the rows a page holds; where there are any, at least one. */
function fittingRows(rows: readonly FoundRow[]): number {
  let bytes = 0;
  const end = rows.findIndex(({ visibility, visibility_bytes }, place) => {
    if (visibility === null) bytes += visibility_bytes;
    return place > 0 && bytes > MOST_ON_PAGE;
  });
  return end < 0 ? rows.length : end;
}

/** Without those that retention has deleted meanwhile. */
async function whole(db: Reader, rows: readonly FoundRow[]): Promise<ChangelogRow[]> {
  const large = rows.filter(({ visibility }) => visibility === null);
  if (large.length === 0) return [...rows] as ChangelogRow[];
  const found = new Map((await visibilitiesAt(db, {}, large.map(({ seq }) => seq))).map(({ seq, visibility }) => [seq, visibility]));
  return rows.flatMap((row) => {
    const visibility = row.visibility ?? found.get(row.seq);
    return visibility === undefined ? [] : { ...row, visibility };
  });
}

const visibilitiesAt = preparedWithList<object, number, { seq: number; visibility: string }>((db, _place, seqs) =>
  db.selectFrom('artifacts').select(['seq', 'visibility']).where('seq', 'in', seqs),
);

async function rowsAlong(db: Reader, paths: readonly Path[], window: Window, limit: number): Promise<FoundRow[]> {
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
  prepared<Stretch, FoundRow>((db, place) => {
    const rows = db
      .selectFrom('artifacts')
      .select(COLUMNS)
      .select(VISIBILITY)
      .where('seq', '>', place('low'))
      .where('seq', '<=', place('high'))
      .orderBy('seq')
      .limit(place('limit'));
    return by === 'all' ? rows : rows.where(by as 'type', '=', place('value'));
  }),
);

const rowsAt = preparedWithList<object, number, FoundRow>((db, _place, seqs) =>
  db.selectFrom('artifacts').select(COLUMNS).select(VISIBILITY).where('seq', 'in', seqs).orderBy('seq'),
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
