import { Injectable } from '@nestjs/common';
import { type Selectable, sql } from 'kysely';

import type { DeliveryState, WebhookTargetsTable } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';

/** Maximum number of deliveries of a target that are counted, so that a long queue does not slow down the list. */
export const MOST_COUNTED = 1_000;

export type ListedTarget = Pick<
  Selectable<WebhookTargetsTable>,
  'id' | 'origin' | 'by' | 'created_at' | 'failing_since'
> & {
  /** Deliveries that have not ended. */
  open: number;
  dead: number;
};

/** Lists webhook targets. */
@Injectable()
export class TargetListRepository {
  /** Returns the first `limit` targets after one, newest first. */
  list(db: Reader, filter: { isFailing: boolean; after: string | null }, limit: number): Promise<ListedTarget[]> {
    let targets = db
      .selectFrom('webhook_targets')
      .select(['id', 'origin', 'by', 'created_at', 'failing_since'])
      .select([countOf('waiting', 'pending', 'running').as('open'), countOf('dead').as('dead')])
      .orderBy('id', 'desc')
      .limit(limit);
    if (filter.isFailing) targets = targets.where('failing_since', 'is not', null);
    if (filter.after !== null) targets = targets.where('id', '<', filter.after);
    return targets.execute();
  }
}

const countOf = (...states: DeliveryState[]) => sql<number>`(
  select count(*) from (
    select 1 from deliveries
    where target_id = webhook_targets.id and state in (${sql.join(states)}) limit ${MOST_COUNTED}
  ) as counted)`;
