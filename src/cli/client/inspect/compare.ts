import type { ComparisonBody } from '../../../features/compare/dto/comparison-body.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { count } from '../printing/texts.js';
import type { Server } from '../server.js';
import { comparisonLines } from './comparison-lines.js';
import { correlationOf } from './find-trace.js';
import { limitOf } from './list.js';

const DEFAULT_LIMIT = 500;

/** The largest page of a comparison. */
const LARGEST_PAGE = 100;

/** Prints what differs between two correlations, each named by its id or by the id of something in it. */
export async function compare(
  left: string,
  right: string,
  { limit, ...options }: ClientOptions & { limit?: string },
): Promise<void> {
  const { server, output } = connectionOf(options);
  const most = limitOf(limit, DEFAULT_LIMIT);
  const comparison = await comparisonOf(
    server,
    await correlationOf(server, left),
    await correlationOf(server, right),
    most,
  );
  if (!output.isForPeople) return output.json(comparison);
  await output.lines(comparisonLines(comparison, output));
  const pairs = comparison.paired + comparison.only_left + comparison.only_right;
  if (comparison.pagination.has_more)
    output.hint(`These are the first ${count(most)} of ${count(pairs)} pairs; --limit shows more`);
  for (const { correlation_id: id, artifact_count: artifacts, truncated } of [comparison.left, comparison.right])
    if (truncated) output.hint(`${id} has ${count(artifacts)} artifacts, and only its first are compared`);
}

/** Returns the comparison with the first `limit` pairs. Its `pagination` is that of the last page. */
async function comparisonOf(server: Server, left: string, right: string, limit: number): Promise<ComparisonBody> {
  const page = (left_of: number, after: string | null): Promise<ComparisonBody> => {
    const query = new URLSearchParams({ left, right, limit: String(Math.min(left_of, LARGEST_PAGE)) });
    if (after !== null) query.set('after', after);
    return server.get<ComparisonBody>(`/api/v1/compare?${query}`);
  };
  const comparison = await page(limit, null);
  let next = comparison.pagination.next;
  while (next !== null && comparison.items.length < limit) {
    const { items, pagination } = await page(limit - comparison.items.length, next);
    comparison.items.push(...items);
    comparison.pagination = pagination;
    next = pagination.next;
  }
  return comparison;
}
