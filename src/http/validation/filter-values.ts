import { DomainError } from '../../common/domain-error.js';

/** In all lists of one filter together: each value has a part of its own in the query's plan, or a query of its own. */
export const MOST_FILTER_VALUES = 50;

/** Each tag narrows the result further, so each is looked up for every artifact that the others leave. */
export const MOST_FILTER_TAGS = 10;

/** For the description of a parameter; its own bound is `maxItems` in the document. */
export const VALUES_TOGETHER = `at most ${MOST_FILTER_VALUES} values in all lists of the filter together`;

/** DomainError `invalid` where the lists of a filter have too many values together. */
export function refuseTooManyValues(lists: Record<string, readonly string[] | undefined>): void {
  const total = Object.values(lists).reduce((sum, values) => sum + (values?.length ?? 0), 0);
  if (total <= MOST_FILTER_VALUES) return;
  throw new DomainError('invalid', `${Object.keys(lists).join(', ')}: must have no more than ${MOST_FILTER_VALUES} values together (got ${total})`);
}
