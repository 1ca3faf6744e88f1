import { Injectable } from '@nestjs/common';
import type { Kysely, SelectQueryBuilder } from 'kysely';

import type { DeliveryState, Schema } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { DeliveryRow } from './deliveries.repository.js';

export interface DeliveryFilter {
  state: DeliveryState | null;
  targetId: string | null;
  correlationId: string | null;
  artifactId: string | null;
}

export interface ListPage {
  limit: number;
  offset: number;
}

const STATES: readonly DeliveryState[] = ['waiting', 'pending', 'running', 'delivered', 'dead'];

/** Lists deliveries. */
@Injectable()
export class DeliveryListRepository {
  /** Returns the page, newest first, plus one further row if more rows match. */
  list(db: Reader, filter: DeliveryFilter, { limit, offset }: ListPage): Promise<DeliveryRow[]> {
    return db
      .with('page', () =>
        newestOf(db, filter, offset + limit + 1)
          .orderBy('seq', 'desc')
          .limit(limit + 1)
          .offset(offset),
      )
      .selectFrom('page')
      .innerJoin('deliveries', 'deliveries.seq', 'page.seq')
      .selectAll('deliveries')
      .orderBy('page.seq', 'desc')
      .execute();
  }
}

type Positions = SelectQueryBuilder<Schema, 'deliveries', { seq: number }>;

/**
 * Selects the positions of matching deliveries, the newest `most` among them. The index of a target has an order within
 * each state only, so all deliveries of a target are the newest ones of each state together.
 */
function newestOf(db: Kysely<Schema>, filter: DeliveryFilter, most: number): Positions {
  const { state, targetId, correlationId, artifactId } = filter;
  let all: Positions = db.selectFrom('deliveries').select('seq');
  if (correlationId !== null) all = all.where('correlation_id', '=', correlationId);
  if (artifactId !== null) all = all.where('artifact_id', '=', artifactId);
  if (targetId !== null) all = all.where('target_id', '=', targetId);
  if (state !== null) return all.where('state', '=', state);
  if (targetId === null || correlationId !== null || artifactId !== null) return all;
  const [first, ...others] = STATES.map((one) =>
    db.selectFrom(all.where('state', '=', one).orderBy('seq', 'desc').limit(most).as('newest')).select('newest.seq'),
  );
  const union = others.reduce((found, part) => found.unionAll(part), first!);
  return db.selectFrom(union.as('deliveries')).select('seq') as unknown as Positions;
}
