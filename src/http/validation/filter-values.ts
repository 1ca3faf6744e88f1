import { DomainError } from '../../common/domain-error.js';

/** The limit for all lists of one filter together, because each value adds a part to the query plan, or a query. */
export const MOST_FILTER_VALUES = 50;

/** Each tag is looked up for every artifact that the other filters leave. */
export const MOST_FILTER_TAGS = 10;

/** For the description of a parameter. The limit of a single list is its `maxItems` in the OpenAPI document. */
export const VALUES_TOGETHER = `at most ${MOST_FILTER_VALUES} values in all lists of the filter together`;

/** Throws a DomainError `invalid` if the lists of a filter have too many values together. */
export function refuseTooManyValues(lists: Record<string, readonly string[] | undefined>): void {
  const total = Object.values(lists).reduce((sum, values) => sum + (values?.length ?? 0), 0);
  if (total <= MOST_FILTER_VALUES) return;
  throw new DomainError(
    'invalid',
    `${Object.keys(lists).join(', ')}: must have at most ${MOST_FILTER_VALUES} values together (got ${total})`,
  );
}
