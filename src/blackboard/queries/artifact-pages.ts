import type { Reader } from '../../database/unit-of-work.js';
import { type ArtifactFilter, asksForNothing } from './artifact-filter.js';
import {
  EVERYTHING,
  isOrdered,
  type OrderedPath,
  type Path,
  type Route,
  routesOf,
  spanOf,
  type Window,
} from './artifact-paths.js';
import { artifactsAlong, artifactsAt, type PageRequest } from './artifact-rows.js';
import { narrowest } from './narrowest-route.js';
import { findFirstPositions, findMatchingPositions, windows } from './path-rows.js';
import { PositionSet } from './position-set.js';
import { withoutNeedlessCondition } from './replay-rows.js';
import type { WireRow } from './wire-rows.js';

// WINDOW: steps whose artifacts one query reads. SKIPPED: index steps that one query skips. Each takes a few
// milliseconds, after which other requests run.
const WINDOW = 2_000;
const SKIPPED = 20_000;

/** One page of the artifacts that match a filter, in its order. */
export async function pageOf(db: Reader, given: ArtifactFilter, page: PageRequest): Promise<WireRow[]> {
  const filter = await withoutNeedlessCondition(db, given);
  const routes = routesOf(filter);
  if (routes.length > 1 || !asksForNothing(routes[0]!.rest))
    return artifactsAt(db, await searchRoute(db, await narrowest(db, routes), page), page);
  const [{ paths }] = routes as [Route];
  const [path] = paths as [Path];
  if (paths.length === 1 && isOrdered(path)) return alongPath(db, path, page);
  // A merge counts through the whole offset in one query, so it is used only for short offsets.
  const canMerge = paths.every(isOrdered) && page.offset < SKIPPED;
  const seqs = canMerge
    ? await findFirstPositions(db, paths, spanBehind(page), page)
    : await searchRoute(db, routes[0]!, page);
  return artifactsAt(db, seqs, page);
}

/** Reads the page directly along the path, if the filter has only this condition. */
async function alongPath(db: Reader, path: OrderedPath, page: PageRequest): Promise<WireRow[]> {
  const { span, offset } = await skip(db, path, page);
  return artifactsAlong(db, path, span, { ...page, offset });
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
      const part = { span: spanBehind(page), order: page.order, limit: wanted };
      const seqs = await findMatchingPositions(db, path, window, asksForNothing(rest) ? null : rest, part);
      seqs.forEach((seq) => found.add(seq));
      foundHere += seqs.length;
      // In a time range a later window can still hold an earlier position.
      if (isOrdered(path) && foundHere >= wanted) break;
    }
  }
  return found.page(page.order, page.offset, page.limit);
}

const searchSpan = (path: Path, page: PageRequest): Window => (isOrdered(path) ? spanBehind(page) : spanOf(path));

function spanBehind({ after, order }: PageRequest): Window {
  if (after === null) return EVERYTHING;
  return order === 'asc' ? { ...EVERYTHING, low: after } : { ...EVERYTHING, high: after - 1 };
}
