import { numberOf } from '../argument-values.js';
import { ClientError } from '../client-errors.js';
import { refuseUnknownNames } from '../known-names.js';
import { type Page, pagesOf, queryOf } from '../paging.js';
import type { Output } from '../printing/output.js';
import type { Column } from '../printing/table.js';
import { count } from '../printing/texts.js';
import type { Server } from '../server.js';

const DEFAULT_LIMIT = 50;

interface Listing<T> {
  limit: number;
  columns: readonly Column<T>[];
  /** Longer rows are cut; the width of the terminal if it is missing. */
  width?: number;
  /** The line for people if there is nothing. */
  none: string;
  /** Throws an error if there is nothing because the user named something that does not exist. */
  refuse?: () => Promise<void>;
}

/** Prints a list of the API. `filters`: the options of the command that filter it. */
export const printList = <T extends object>(
  server: Server,
  output: Output,
  { path, filters, ...listing }: Listing<T> & { path: string; filters: Record<string, unknown> },
): Promise<void> =>
  printPages(output, pagesOf<T>(server, path, queryOf(filters), listing.limit), {
    ...listing,
    refuse: () => refuseUnknownNames(server, filters),
  });

/** Prints pages as one list. In JSON, each page is printed as soon as it is there. */
export async function printPages<T extends object>(
  output: Output,
  pages: AsyncIterable<Page<T>>,
  { limit, columns, width, none, refuse }: Listing<T>,
): Promise<void> {
  const items: T[] = [];
  let [isEmpty, isCut] = [true, false];
  for await (const page of pages) {
    isCut = page.hasMore;
    if (page.items.length > 0) isEmpty = false;
    if (output.isForPeople) items.push(...page.items);
    else await output.jsonLines(page.items);
  }
  if (isEmpty) await refuse?.();
  if (!output.isForPeople) return;
  await output.table(items, columns, width);
  if (isEmpty) output.hint(none);
  else if (isCut) output.hint(`There are more than ${count(limit)}; --limit sets how many are listed`);
}

/** Throws a ClientError if the option `--limit` is not a whole number of at least 1. */
export function limitOf(given: string | undefined, otherwise = DEFAULT_LIMIT): number {
  const limit = given === undefined ? otherwise : numberOf('--limit', given);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new ClientError(`--limit: must be a whole number of at least 1 (got ${JSON.stringify(given)})`);
  return limit;
}

/** Throws a ClientError if a command that shows one thing has options that only filter a list. */
export function refuseFilters(filters: Record<string, unknown>): void {
  const [name] = [...queryOf(filters).keys()];
  if (name !== undefined)
    throw new ClientError(`--${name.replaceAll('_', '-')}: filters only the list; remove it or the id`);
}
