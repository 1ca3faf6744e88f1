import type { Insertable } from 'kysely';

import type { CorrelationTermsTable } from '../../database/schema.js';
import type { CorrelationRow } from './tracked-correlation.js';

type TermRow = Insertable<CorrelationTermsTable>;

/** The length of the list in a correlation's row from which no more terms are added to it. */
const LONG_LIST = 1_000;

/**
 * The terms that a transaction adds to correlations. Each correlation lists its own terms, so that most artifacts and
 * executions after the first ones of their type and agent write nothing.
 */
export class AddedTerms {
  readonly rows: TermRow[] = [];
  private readonly known = new Map<string, Set<string>>();

  add(correlation: CorrelationRow, kind: 'agent' | 'type' | 'tag', value: string): void {
    const known = this.knownOf(correlation);
    const term = `${kind}:${value}`;
    if (known.has(term)) return;
    known.add(term);
    const isListed = correlation.terms.length < LONG_LIST;
    if (isListed) correlation.terms = JSON.stringify([...known]);
    this.push(correlation, kind, value, isListed);
  }

  addState(correlation: CorrelationRow): void {
    this.push(correlation, 'state', correlation.state, true);
  }

  private push({ seq, started_at }: CorrelationRow, kind: TermRow['kind'], value: string, isListed: boolean): void {
    this.rows.push({ kind, value, started_at, correlation_seq: seq, unlisted: isListed ? 0 : 1 });
  }

  private knownOf({ id, terms }: CorrelationRow): Set<string> {
    let known = this.known.get(id);
    if (!known) this.known.set(id, (known = new Set(terms === '[]' ? [] : (JSON.parse(terms) as string[]))));
    return known;
  }
}

/** The listed terms of a correlation, including its state. */
export function listedTerms({
  state,
  terms,
}: Pick<CorrelationRow, 'state' | 'terms'>): Pick<TermRow, 'kind' | 'value'>[] {
  const listed = (JSON.parse(terms) as string[]).map((term) => {
    const end = term.indexOf(':');
    return { kind: term.slice(0, end) as TermRow['kind'], value: term.slice(end + 1) };
  });
  return [{ kind: 'state', value: state }, ...listed];
}
