import type { Reader } from '../../database/unit-of-work.js';
import { type ArtifactFilter, asksForNothing } from './artifact-filter.js';
import {
  along,
  EVERYTHING,
  isOrdered,
  matchingAlong,
  type OrderedPath,
  type Path,
  type Route,
  routesOf,
  spanOf,
  stepsAlong,
  type Window,
  windows,
} from './artifact-paths.js';
import { artifactsAlong, artifactsAt, type PageRequest } from './artifact-rows.js';
import { narrowest } from './narrowest-route.js';
import { PositionSet } from './position-set.js';
import type { WireRow } from './wire-rows.js';

// WINDOW: steps whose artifacts one query reads. SKIPPED: index steps that one query skips. Each takes a few
// milliseconds, after which other requests run.
const WINDOW = 2_000;
const SKIPPED = 20_000;

/** One page of the artifacts that match a filter, in its order. */
export async function pageOf(db: Reader, filter: ArtifactFilter, page: PageRequest): Promise<WireRow[]> {
  const routes = routesOf(filter);
  if (routes.length > 1) return artifactsAt(db, await searchRoute(db, await narrowest(db, routes), page), page);
  const [{ paths }] = routes as [Route];
  const [path] = paths as [Path];
  if (paths.length === 1 && isOrdered(path)) return alongPath(db, path, page);
  // A merge counts through the whole offset in one query, so it is used only for short offsets.
  const canMerge = paths.every(isOrdered) && page.offset < SKIPPED;
  const seqs = canMerge ? await mergePaths(db, paths, page) : await searchRoute(db, routes[0]!, page);
  return artifactsAt(db, seqs, page);
}

/** Reads the page directly along the path, if the filter has only this condition. */
async function alongPath(db: Reader, path: OrderedPath, page: PageRequest): Promise<WireRow[]> {
  const { span, offset } = await skip(db, path, page);
  return artifactsAlong(db, path, span, { ...page, offset });
}

/** Takes the first positions of each path and makes the page from the first of these. */
async function mergePaths(db: Reader, paths: readonly Path[], page: PageRequest): Promise<number[]> {
  const [first, ...others] = paths.map((path) =>
    db
      .selectFrom(
        along(db, path, spanBehind(page))
          .select('step.seq')
          .orderBy('step.key', page.order)
          .limit(page.offset + page.limit)
          .as('part'),
      )
      .select('part.seq'),
  );
  const parts = others.reduce((all, part) => all.unionAll(part), first!);
  const rows = await parts.orderBy('seq', page.order).limit(page.limit).offset(page.offset).execute();
  return rows.map(({ seq }) => seq);
}

/** Skips most of a long offset window by window, so that no single query blocks the process while it counts. */
async function skip(db: Reader, path: Path, page: PageRequest): Promise<{ span: Window; offset: number }> {
  let span = spanBehind(page);
  let { offset } = page;
  if (offset < SKIPPED) return { span, offset };
  for await (const window of windows(db, path, span, SKIPPED, page.order)) {
    if (offset < SKIPPED) break;
    span = page.order === 'asc' ? { ...span, low: window.high } : { ...span, high: window.low };
    offset -= SKIPPED;
  }
  return { span, offset };
}

/** Reads one window after another along the route until the page is full or the route ends. */
async function searchRoute(db: Reader, { paths, rest }: Route, page: PageRequest): Promise<number[]> {
  const wanted = page.offset + page.limit;
  const found = new PositionSet();
  for (const path of paths) {
    let foundHere = 0;
    for await (const window of windows(db, path, searchSpan(path, page), WINDOW, page.order)) {
      const seqs = await matchingPositions(db, path, window, rest, page, wanted);
      seqs.forEach((seq) => found.add(seq));
      foundHere += seqs.length;
      // In a time range a later window can still hold an earlier position.
      if (isOrdered(path) && foundHere >= wanted) break;
    }
  }
  return found.page(page.order, page.offset, page.limit);
}

async function matchingPositions(
  db: Reader,
  path: Path,
  window: Window,
  filter: ArtifactFilter,
  page: PageRequest,
  limit: number,
): Promise<number[]> {
  const { low, high } = spanBehind(page);
  const steps = asksForNothing(filter) ? stepsAlong(db, path, window) : matchingAlong(db, path, window, filter);
  const rows = await steps
    .select('steps.seq')
    .where('steps.seq', '>', low)
    .where('steps.seq', '<=', high)
    .orderBy('steps.seq', page.order)
    .limit(limit)
    .execute();
  return rows.map(({ seq }) => seq);
}

const searchSpan = (path: Path, page: PageRequest): Window => (isOrdered(path) ? spanBehind(page) : spanOf(path));

function spanBehind({ after, order }: PageRequest): Window {
  if (after === null) return EVERYTHING;
  return order === 'asc' ? { ...EVERYTHING, low: after } : { ...EVERYTHING, high: after - 1 };
}
