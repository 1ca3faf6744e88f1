import type { Catalog } from '../../catalog/catalog.js';
import { type Limit, type LimitValues, withValues } from '../../catalog/limits.js';
import type { Reader } from '../../database/unit-of-work.js';
import { findLimitValues } from './limit-value-rows.js';

/**
 * The limits with these names, with the values that clients have set. A limit that the configuration no longer has is left
 * out. It limits nothing.
 */
export async function effectiveLimits(
  db: Reader,
  catalog: Catalog,
  names: readonly string[],
): Promise<ReadonlyMap<string, Limit>> {
  const known = names.flatMap((name) => catalog.limit(name) ?? []);
  const stored = await findLimitValues(
    db,
    {},
    known.map(({ name }) => name),
  );
  const values = new Map(stored.map(({ name, options }) => [name, JSON.parse(options) as LimitValues]));
  return new Map(
    known.map((limit) => [limit.name, values.has(limit.name) ? withValues(limit, values.get(limit.name)!) : limit]),
  );
}
