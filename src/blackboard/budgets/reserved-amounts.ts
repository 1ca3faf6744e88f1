import type { Transaction } from '../../database/unit-of-work.js';
import { type Amount, type Limit, NOTHING, sum } from './budget-room.js';
import { sumReserved } from './reservation-rows.js';

/** The reservations of the running attempts in one correlation. */
export class ReservedAmounts {
  private constructor(private readonly byAgent: Map<string, Amount>) {}

  /** Reads the reservations whose leases are current, except that of the execution `without`. */
  static async in(tx: Transaction, correlationId: string, without = ''): Promise<ReservedAmounts> {
    const rows = await sumReserved(tx.db, { correlationId, without });
    return new ReservedAmounts(
      new Map(rows.map(({ agent, tokens, cost }) => [agent, { tokens: Number(tokens), cost: Number(cost) }])),
    );
  }

  /** No attempt is running, not even between two calls. */
  get areNone(): boolean {
    return this.byAgent.size === 0;
  }

  /** At least one call is running. */
  get areForCalls(): boolean {
    return this.all.tokens > 0;
  }

  private get all(): Amount {
    return [...this.byAgent.values()].reduce(sum, NOTHING);
  }

  of({ agent }: Limit): Amount {
    return agent === null ? this.all : (this.byAgent.get(agent) ?? NOTHING);
  }

  add(agent: string, amount: Amount): void {
    this.byAgent.set(agent, sum(this.byAgent.get(agent) ?? NOTHING, amount));
  }
}
