import type { CorrelationTermKind } from '../../database/schema.js';
import type { CorrelationRow } from '../correlations/tracked-correlation.js';

/** The terms that the row of a correlation lists. */
export const listedTerms = ({ terms }: Pick<CorrelationRow, 'terms'>): { kind: CorrelationTermKind; value: string }[] =>
  (JSON.parse(terms) as string[]).map((term) => {
    const end = term.indexOf(':');
    return { kind: term.slice(0, end) as CorrelationTermKind, value: term.slice(end + 1) };
  });
