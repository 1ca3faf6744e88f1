import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { Catalog } from '../../catalog/catalog.js';
import { prepared } from '../../database/prepared.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import type { Limit } from './budget-room.js';

/** The agent and the correlation of a model call. */
interface Caller {
  agent: string;
  correlationId: string;
}

/** Finds the budgets that apply to an agent, and how much of them is spent. */
@Injectable()
export class Budgets {
  constructor(private readonly catalog: Catalog) {}

  /** Whether the configuration has a budget. */
  get exist(): boolean {
    return this.catalog.budget !== null || this.catalog.agents.some(({ budget }) => budget !== null);
  }

  holdFor(agent: string): boolean {
    return this.catalog.budget !== null || (this.catalog.agent(agent)?.budget ?? null) !== null;
  }

  /** The transaction has locked the correlation. */
  async of(tx: Transaction, changes: CorrelationChanges, { agent, correlationId }: Caller): Promise<Limit[]> {
    const limits: Limit[] = [];
    const { budget } = this.catalog;
    if (budget) {
      const { input_tokens, output_tokens, cost } = await changes.get(correlationId);
      limits.push({
        who: 'this correlation',
        agent: null,
        budget,
        spent: { tokens: input_tokens + output_tokens, cost: cost ?? 0 },
      });
    }
    const own = this.catalog.agent(agent)?.budget;
    if (own) {
      const [spent] = await spentBy(tx.db, { correlationId, agent });
      limits.push({
        who: `${agent} in this correlation`,
        agent,
        budget: own,
        spent: { tokens: Number(spent!.tokens), cost: Number(spent!.cost) },
      });
    }
    return limits;
  }
}

// Includes usage whose rows retention has deleted.
const spentBy = prepared<{ correlationId: string; agent: string }, { tokens: number | string; cost: number | string }>(
  (db, place) =>
    db
      .selectFrom(
        db
          .selectFrom('usage')
          .select([sql<number>`input_tokens + output_tokens`.as('tokens'), 'cost'])
          .where('correlation_id', '=', place('correlationId'))
          .where('agent', '=', place('agent'))
          .unionAll(
            db
              .selectFrom('deleted_usage')
              .select(['tokens', 'cost'])
              .where('correlation_id', '=', place('correlationId'))
              .where('agent', '=', place('agent')),
          )
          .as('spent'),
      )
      .select(({ fn }) => [
        fn.coalesce(fn.sum<number>('tokens'), sql.lit(0)).as('tokens'),
        fn.coalesce(fn.sum<number>('cost'), sql.lit(0)).as('cost'),
      ]),
);
