import { Injectable } from '@nestjs/common';
import { type Expression, expressionBuilder, type Kysely, sql, type SqlBool } from 'kysely';

import { inByteOrder } from '../../database/dialects/dialect.js';
import type { Schema } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { CorrelationFilter, Place, Term } from './correlation-filter.js';
import { withTerm } from './correlation-terms.repository.js';

/** A correlation that meets one condition. `matches` is 1 if it also meets the others, otherwise 0. */
export interface Step extends Place {
  matches: number;
}

type WithSteps = Schema & { steps: Place };

/** Sorts after every character of an id, which consists of visible ASCII characters. */
const AFTER_ALL_CHARACTERS = '\x7f';

/** Reads correlations along the indexes of lists. */
@Injectable()
export class CorrelationSteps {
  /**
   * Returns the newest correlations after a place that have one of these terms and started in the time of the filter,
   * in the order of the list.
   */
  alongTerms(
    db: Reader,
    terms: readonly Term[],
    filter: CorrelationFilter,
    after: Place | null,
    limit: number,
  ): Promise<Step[]> {
    const [first, ...others] = terms.map((term) => newestWith(db, term, filter, after, limit));
    const newest = others.reduce((all, part) => all.union(part), first!);
    return (
      db
        // Materialised, so that the planner cannot begin with another condition.
        .with(
          (cte) => cte('steps').materialized(),
          () => newest.orderBy('started_at', 'desc').orderBy('seq', 'desc').limit(limit),
        )
        .selectFrom('steps')
        .select(['steps.seq', 'steps.started_at', asNumber(meets(db, filter)).as('matches')])
        .orderBy('steps.started_at', 'desc')
        .orderBy('steps.seq', 'desc')
        .execute()
    );
  }

  /** Returns the correlations with the prefix of the filter whose ids come after `lastId`, in the order of their ids. */
  alongIds(
    db: Reader,
    filter: CorrelationFilter & { idPrefix: string },
    after: Place | null,
    lastId: string | null,
    limit: number,
  ): Promise<(Step & { id: string })[]> {
    const id = inByteOrder(db, 'id');
    let ids = db.selectFrom('correlations').select(['id', 'seq', 'started_at']).where(hasPrefix(id, filter.idPrefix));
    if (lastId !== null) ids = ids.where(id, '>', lastId);
    const eb = expressionBuilder<WithSteps, 'steps'>();
    const conditions = [meets(db, { ...filter, idPrefix: null })];
    if (filter.from !== null) conditions.push(eb('steps.started_at', '>=', filter.from));
    if (filter.to !== null) conditions.push(eb('steps.started_at', '<=', filter.to));
    if (after !== null) conditions.push(comesAfter('steps.started_at', 'steps.seq', after));
    return db
      .with(
        (cte) => cte('steps').materialized(),
        () => ids.orderBy(id).limit(limit),
      )
      .selectFrom('steps')
      .select(['steps.id', 'steps.seq', 'steps.started_at', asNumber(eb.and(conditions)).as('matches')])
      .orderBy(inByteOrder(db, 'steps.id'))
      .execute();
  }
}

/** The newest correlations with a term, each once. */
function newestWith(
  db: Kysely<Schema>,
  term: Term,
  { from, to, reached }: CorrelationFilter,
  after: Place | null,
  limit: number,
) {
  const [first, ...others] = withTerm(db, term, reached).map((all) => {
    let own = db.selectFrom(all.as('own')).select(['seq', 'started_at']);
    if (from !== null) own = own.where('started_at', '>=', from);
    if (to !== null) own = own.where('started_at', '<=', to);
    if (after !== null) own = own.where(comesAfter('started_at', 'seq', after));
    const newest = own.orderBy('started_at', 'desc').orderBy('seq', 'desc').limit(limit);
    return db.selectFrom(newest.as('newest')).select(['newest.seq', 'newest.started_at']);
  });
  return others.reduce((all, part) => all.union(part), first!);
}

const comesAfter = (startedAt: string, seq: string, after: Place): Expression<SqlBool> =>
  sql<SqlBool>`(${sql.ref(startedAt)}, ${sql.ref(seq)}) < (${after.started_at}, ${after.seq})`;

const hasPrefix = (id: Expression<string>, prefix: string): Expression<SqlBool> =>
  sql<SqlBool>`(${id} >= ${prefix} and ${id} < ${prefix + AFTER_ALL_CHARACTERS})`;

const asNumber = (condition: Expression<SqlBool>) => sql<number>`case when ${condition} then 1 else 0 end`;

/** The terms and the prefix of a filter, as a condition on `steps`. */
function meets(db: Kysely<Schema>, { terms, idPrefix, replays, reached }: CorrelationFilter): Expression<SqlBool> {
  const eb = expressionBuilder<WithSteps, 'steps'>();
  const conditions: Expression<SqlBool>[] = terms.map((term) =>
    eb.or(
      withTerm(db, term, reached).map((all) =>
        eb.exists(
          eb
            .selectFrom(all.as('other'))
            .select('other.seq')
            .whereRef('other.started_at', '=', 'steps.started_at')
            .whereRef('other.seq', '=', 'steps.seq'),
        ),
      ),
    ),
  );
  if (!replays)
    conditions.push(
      eb.exists(
        eb
          .selectFrom('correlations')
          .select('correlations.seq')
          .whereRef('correlations.seq', '=', 'steps.seq')
          .where('correlations.origin', 'is', null),
      ),
    );
  if (idPrefix !== null)
    conditions.push(
      eb.exists(
        eb
          .selectFrom('correlations')
          .select('correlations.seq')
          .whereRef('correlations.seq', '=', 'steps.seq')
          .where(hasPrefix(inByteOrder(db, 'correlations.id'), idPrefix)),
      ),
    );
  return eb.and(conditions);
}
