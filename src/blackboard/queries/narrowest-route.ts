import { yieldToEventLoop } from '../../common/event-loop.js';
import type { Reader } from '../../database/unit-of-work.js';
import { type Route, spanOf } from './artifact-paths.js';
import { countSteps } from './path-rows.js';

/** Growing bounds make the cost of the comparison proportional to the narrowest route, however long the others are. */
const BOUNDS = [100, 1_000, 10_000, 100_000] as const;

/**
 * Returns the route with the fewest artifacts, within a factor of ten. If all are longer than the last bound, it
 * returns the first: further counting would cost more than a better choice saves.
 */
export async function narrowest(db: Reader, routes: readonly Route[]): Promise<Route> {
  if (routes.length === 1) return routes[0]!;
  for (const bound of BOUNDS) {
    for (const route of routes) {
      if (await isShorterThan(db, route, bound)) return route;
    }
  }
  return routes[0]!;
}

async function isShorterThan(db: Reader, route: Route, bound: number): Promise<boolean> {
  let length = 0;
  for (const path of route.paths) {
    length += await countSteps(db, path, spanOf(path), bound - length);
    await yieldToEventLoop();
    if (length >= bound) return false;
  }
  return true;
}
