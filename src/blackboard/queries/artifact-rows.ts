import { memoize, type Place, prepared, preparedWithList } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { OrderedPath, Window } from './artifact-paths.js';
import { wireColumns, type WireRow } from './wire-rows.js';

export interface PageRequest {
  /** The order of positions. */
  order: 'asc' | 'desc';
  limit: number;
  offset: number;
  /** The page begins after this position, in its order. Null begins at the first. */
  after: number | null;
  /** Bytes. The texts of larger artifacts are left out. */
  most: number;
}

type Order = PageRequest['order'];
type By = OrderedPath['by'];

/** Returns the artifacts of a page along a part of a path. */
export function artifactsAlong(
  db: Reader,
  path: OrderedPath,
  { low, high }: Window,
  page: Omit<PageRequest, 'after'>,
): Promise<WireRow[]> {
  const { order, limit, offset, most } = page;
  return alongInOrder(order)(path.by)(db, {
    value: path.by === 'all' ? '' : path.value,
    low,
    high,
    limit,
    offset,
    most,
  });
}

/** The artifacts at these positions. */
export const artifactsAt = (db: Reader, seqs: readonly number[], page: PageRequest): Promise<WireRow[]> =>
  atInOrder(page.order)(db, { most: page.most }, seqs);

interface Stretch extends Window {
  value: string;
  most: number;
  limit: number;
  offset: number;
}

const alongInOrder = memoize((order: Order) =>
  memoize((by: By) =>
    prepared<Stretch, WireRow>((db, place) =>
      by === 'tag' ? tagged(db, place, order) : inColumn(db, place, order, by),
    ),
  ),
);

function inColumn(db: Reader, place: Place<Stretch>, order: Order, by: Exclude<By, 'tag'>) {
  const artifacts = db
    .selectFrom('artifacts')
    .select(wireColumns(place('most')))
    .where('seq', '>', place('low'))
    .where('seq', '<=', place('high'))
    .orderBy('seq', order)
    .limit(place('limit'))
    .offset(place('offset'));
  return by === 'all' ? artifacts : artifacts.where(by, '=', place('value'));
}

// The order is that of the tag's index: a sort by the artifacts' position would read all artifacts with the tag first.
const tagged = (db: Reader, place: Place<Stretch>, order: Order) =>
  db
    .selectFrom('artifact_tags')
    .crossJoin('artifacts')
    .whereRef('artifacts.seq', '=', 'artifact_tags.artifact_seq')
    .select(wireColumns(place('most')))
    .where('tag', '=', place('value'))
    .where('artifact_seq', '>', place('low'))
    .where('artifact_seq', '<=', place('high'))
    .orderBy('artifact_seq', order)
    .limit(place('limit'))
    .offset(place('offset'));

const atInOrder = memoize((order: Order) =>
  preparedWithList<{ most: number }, number, WireRow>((db, place, seqs) =>
    db
      .selectFrom('artifacts')
      .select(wireColumns(place('most')))
      .where('seq', 'in', seqs)
      .orderBy('seq', order),
  ),
);
