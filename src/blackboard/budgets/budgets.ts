import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import type { Limit } from './budget-room.js';
import { sumSpent } from './usage-rows.js';

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
      const [spent] = await sumSpent(tx.db, { correlationId, agent });
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
