import type { Clock } from '../../common/clock.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { Queue, QueuedRow } from '../../queue/queue.js';
import type { FoundRows } from '../../queue/ready-rows.js';
import {
  adoptWithoutKey,
  deleteKeysWithoutWork,
  findingAt,
  findingKeys,
  findingOfKey,
  type Line,
} from './fair-key-rows.js';
import { FairSearch, type FoundInTurns } from './fair-search.js';
import { moveTurns } from './moved-turns.js';

type Fair = QueuedRow & { fair_key: string | null; fair_weight: number | null };

const ADOPT_EVERY_MS = 30_000;

/**
 * Finds the rows of a queue that are to be claimed next if its keys take turns. The claim moves the turns of what it takes,
 * under the lock that keeps other claims of the queue away.
 */
export class FairRows<Row extends Fair> {
  private readonly search: FairSearch<Line, Row>;
  private readonly adoptAt = new Map<string, number>();

  constructor(
    private readonly queue: Queue<Row>,
    private readonly clock: Clock,
  ) {
    this.search = new FairSearch({
      findKeys: findingKeys(queue),
      findAt: findingAt(queue),
      findOfKey: findingOfKey(queue),
    });
  }

  async find(tx: Transaction, agent: string, limit: number): Promise<FoundRows<Row>> {
    const found = await this.search.find(tx.db, { line: agent }, limit);
    const { rows: ready, isAll } = found;
    const adopted = ready.length < limit || this.isDue(agent) ? await this.adopt(tx, agent) : 0;
    return {
      queue: agent,
      ready,
      isAll: ready.length < limit && isAll && adopted === 0,
      moveFrontier: () => undefined,
      settle: (taken) => this.settle(tx, agent, taken, found),
    };
  }

  /** Rows that were found and not taken, because of a limit or for lack of slots, cost no turn. */
  private async settle(
    tx: Transaction,
    agent: string,
    taken: readonly Row[],
    { virtualTime, ended }: FoundInTurns<Row>,
  ): Promise<void> {
    await moveTurns(tx, { line: agent, virtualTime }, taken);
    await deleteKeysWithoutWork(tx, { line: agent }, ended);
  }

  private async adopt(tx: Transaction, agent: string): Promise<number> {
    tx.afterCommit(() => this.adoptAt.set(agent, this.clock.now() + ADOPT_EVERY_MS));
    return adoptWithoutKey(tx, this.queue, agent);
  }

  private isDue(agent: string): boolean {
    return this.clock.now() >= (this.adoptAt.get(agent) ?? 0);
  }
}
