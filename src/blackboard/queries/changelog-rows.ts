import { sql } from 'kysely';

import { memoize, prepared, preparedWithList } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { NO_FILTER } from './artifact-filter.js';
import { type OrderedPath, type Path, routesOf, type Window } from './artifact-paths.js';
import { narrowest } from './narrowest-route.js';
import { findFirstPositions } from './path-rows.js';

/** An artifact without its payload and tags, which can be large. */
export type ChangelogRow = Pick<ArtifactRow, (typeof COLUMNS)[number] | 'visibility'>;

/** The row that a query finds first. It includes the visibility only if that is small. */
type FoundRow = Pick<ArtifactRow, (typeof COLUMNS)[number]> & { visibility: string | null; visibility_bytes: number };

/** By position: the oldest first, or the newest first. */
export type ChangelogOrder = 'asc' | 'desc';

/** The first artifacts of a window, in the order that was asked for. */
export interface ChangelogPage {
  rows: ChangelogRow[];
  /** The position at which the page ends: that of its last row, or the end of the window. */
  upTo: number;
  /** True if the window has no rows after this page. */
  isAll: boolean;
}

/** The artifacts that a changelog reader wants: any value of each list; an empty list sets no condition. */
export interface ChangelogFilter {
  readonly correlationIds: readonly string[];
  readonly types: readonly string[];
  readonly producers: readonly string[];
  /** Whether to include replays. They are always included if correlations are named. */
  readonly replays: boolean;
}

const COLUMNS = ['seq', 'id', 'type', 'produced_by', 'correlation_id', 'created_at', 'replay'] as const;

/**
 * Bytes. A visibility is read with its row up to this size; one that names a thousand agents has hundreds of kilobytes.
 */
const MOST_WITH_ROW = 512;
/** Bytes of larger visibilities on one page. The first one always fits. */
const MOST_ON_PAGE = 256 * 1_024;

const VISIBILITY = [
  sql<number>`octet_length(artifacts.visibility)`.as('visibility_bytes'),
  sql<
    string | null
  >`case when octet_length(artifacts.visibility) <= ${sql.lit(MOST_WITH_ROW)} then artifacts.visibility end`.as(
    'visibility',
  ),
] as const;

/** The paths that contain everything a filter matches. They may contain more. */
export async function pathsOf(
  db: Reader,
  { correlationIds, types, producers }: ChangelogFilter,
): Promise<readonly Path[]> {
  // A correlation almost always has few artifacts.
  if (correlationIds.length > 0) return [...new Set(correlationIds)].map((value) => ({ by: 'correlation_id', value }));
  const { paths } = await narrowest(db, routesOf({ ...NO_FILTER, types, producers }));
  return paths;
}

/**
 * Returns the first artifacts along the paths within a window, sorted: at most `limit`, and at most as many bytes as a
 * page holds.
 */
export async function pageAlong(
  db: Reader,
  paths: readonly Path[],
  window: Window,
  limit: number,
  order: ChangelogOrder = 'asc',
): Promise<ChangelogPage> {
  const found = await rowsAlong(db, paths, window, limit, order);
  const fitting = found.slice(0, fittingRows(found));
  const isAll = found.length < limit && fitting.length === found.length;
  return {
    rows: await whole(db, fitting),
    upTo: isAll ? (order === 'asc' ? window.high : window.low) : fitting.at(-1)!.seq,
    isAll,
  };
}

/** How many of the rows fit on a page: at least one if there are any. */
function fittingRows(rows: readonly FoundRow[]): number {
  let bytes = 0;
  const end = rows.findIndex(({ visibility, visibility_bytes }, place) => {
    if (visibility === null) bytes += visibility_bytes;
    return place > 0 && bytes > MOST_ON_PAGE;
  });
  return end < 0 ? rows.length : end;
}

/** Adds the large visibilities. Rows that retention has deleted meanwhile are left out. */
async function whole(db: Reader, rows: readonly FoundRow[]): Promise<ChangelogRow[]> {
  const large = rows.filter(({ visibility }) => visibility === null);
  if (large.length === 0) return [...rows] as ChangelogRow[];
  const found = new Map(
    (
      await visibilitiesAt(
        db,
        {},
        large.map(({ seq }) => seq),
      )
    ).map(({ seq, visibility }) => [seq, visibility]),
  );
  return rows.flatMap((row) => {
    const visibility = row.visibility ?? found.get(row.seq);
    return visibility === undefined ? [] : { ...row, visibility };
  });
}

const visibilitiesAt = preparedWithList<object, number, { seq: number; visibility: string }>((db, _place, seqs) =>
  db.selectFrom('artifacts').select(['seq', 'visibility']).where('seq', 'in', seqs),
);

async function rowsAlong(
  db: Reader,
  paths: readonly Path[],
  window: Window,
  limit: number,
  order: ChangelogOrder,
): Promise<FoundRow[]> {
  if (paths.length > 1) {
    const rows = await rowsAt(db, {}, await findFirstPositions(db, paths, window, { order, limit, offset: 0 }));
    return order === 'asc' ? rows : rows.reverse();
  }
  const path = paths[0] as OrderedPath;
  return rowsBy[order](path.by)(db, { value: path.by === 'all' ? '' : path.value, ...window, limit });
}

interface Stretch extends Window {
  value: string;
  limit: number;
}

const rowsIn = (order: ChangelogOrder) =>
  memoize((by: OrderedPath['by']) =>
    prepared<Stretch, FoundRow>((db, place) => {
      const rows = db
        .selectFrom('artifacts')
        .select(COLUMNS)
        .select(VISIBILITY)
        .where('seq', '>', place('low'))
        .where('seq', '<=', place('high'))
        .orderBy('seq', order)
        .limit(place('limit'));
      return by === 'all' ? rows : rows.where(by as 'type', '=', place('value'));
    }),
  );

const rowsBy = { asc: rowsIn('asc'), desc: rowsIn('desc') };

const rowsAt = preparedWithList<object, number, FoundRow>((db, _place, seqs) =>
  db.selectFrom('artifacts').select(COLUMNS).select(VISIBILITY).where('seq', 'in', seqs).orderBy('seq'),
);

/** Returns the last position up to `position` that has an artifact, or 0 if none has. */
export async function lastUpTo(db: Reader, position: number): Promise<number> {
  const [row] = await findLast(db, { position });
  return row?.seq ?? 0;
}

const findLast = prepared<{ position: number }, { seq: number }>((db, place) =>
  db.selectFrom('artifacts').select('seq').where('seq', '<=', place('position')).orderBy('seq', 'desc').limit(1),
);

/**
 * Returns the last position after `position` at which an artifact of these types (any type if the list is empty) was
 * deleted, or null.
 */
export async function deletedBehind(db: Reader, position: number, types: readonly string[]): Promise<number | null> {
  // The table has one row per type, so the result is small.
  const deleted = await findDeletions(db, { position });
  const upTo = deleted
    .filter(({ type }) => types.length === 0 || types.includes(type))
    .map(({ up_to_seq }) => up_to_seq);
  return upTo.length > 0 ? Math.max(...upTo) : null;
}

const findDeletions = prepared<{ position: number }, { type: string; up_to_seq: number }>((db, place) =>
  db.selectFrom('artifact_deletions').select(['type', 'up_to_seq']).where('up_to_seq', '>', place('position')),
);
