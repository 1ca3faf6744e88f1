import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { prepared } from '../../database/prepared.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

/** An execution that waits and may be claimed. */
export interface ReadyExecution {
  id: string;
  agent: string;
  correlation_id: string;
  attempt: number;
  direct: number;
  batch: number;
  priority: number;
  seq: number;
  traceparent: string | null;
  created_at: number;
}

export interface FoundExecutions {
  agent: string;
  ready: ReadyExecution[];
  /** There was room for more. */
  isAll: boolean;
  /** The first ones, `taken`, are no longer ready after the commit. `nothingLeft`: neither is any other. */
  take(taken: readonly ReadyExecution[], nothingLeft: boolean): void;
}

/** How much of an agent's line is known to hold nothing that is ready. */
interface Frontier {
  /** By priority: the position up to which nothing is ready. */
  readonly upTo: Map<number, number>;
  /** When the whole line is looked at again (epoch ms). */
  wholeAt: number;
  /** The last look at the whole found as many as it asked for: of an earlier configuration's priorities there may be others. */
  sawNotAll: boolean;
}

const WHOLE_EVERY_MS = 30_000;
const FINAL_EVERY_MS = 100;

/**
 * Finds what is ready to be claimed. Postgres keeps rows and index entries that no longer hold until nobody can see them any
 * more: while some session holds an old snapshot, every search from the front of a line would pass all that was claimed since.
 * So each process remembers, by agent and priority, up to where nothing is ready, and searches from there; what comes back to the
 * line behind that place (`returned`) has it searched as a whole, as the passing of time does. SQLite keeps nothing of the kind.
 */
@Injectable()
export class ReadyExecutions {
  private readonly frontiers = new Map<string, Frontier>();
  private final = 0;
  private finalAt = -Infinity;

  constructor(
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Executions of an agent are ready again that were not new: its whole line is searched next. */
  returned(agent: string): void {
    this.frontiers.delete(agent);
  }

  forget(): void {
    this.frontiers.clear();
    this.final = 0;
  }

  /** To be called with every search: finds out, from time to time, up to which position every execution has come into sight. */
  look(): void {
    if (this.unitOfWork.dialect.exclusive || performance.now() - this.finalAt < FINAL_EVERY_MS) return;
    this.finalAt = performance.now();
    this.unitOfWork.finalPosition('executions').then(
      (final) => (this.final = final),
      // The search itself says what is wrong with the database.
      () => undefined,
    );
  }

  /** The first `limit` of an agent, by priority and then in the order of their making. */
  async find(tx: Transaction, agent: string, limit: number): Promise<FoundExecutions> {
    const { final } = this;
    // Searched and moved is the same one, even if others come back to the line in between, which begin a new one.
    const frontier = this.frontierOf(agent);
    const isWhole = this.unitOfWork.dialect.exclusive || this.isDue(frontier);
    const ready = await (isWhole ? findAll(tx.db, { agent, limit }) : this.findBehind(tx, agent, frontier, limit));
    const isFull = ready.length === limit;
    const mustLookAgain = !isWhole && !isFull && frontier.sawNotAll;
    return {
      agent,
      ready,
      isAll: !isFull && !mustLookAgain,
      take: (taken, nothingLeft) =>
        tx.afterCommit(() => {
          if (isWhole) this.looked(frontier, ready, isFull);
          if (mustLookAgain) frontier.wholeAt = 0;
          this.move(frontier, taken, nothingLeft, final);
        }),
    };
  }

  /** Not again for a while, whatever is left: under a steady load, a line is never seen empty. */
  private looked(frontier: Frontier, ready: readonly ReadyExecution[], isFull: boolean): void {
    frontier.wholeAt = this.clock.now() + WHOLE_EVERY_MS;
    frontier.sawNotAll = isFull;
    for (const { priority } of ready) if (!frontier.upTo.has(priority)) frontier.upTo.set(priority, 0);
  }

  private async findBehind(tx: Transaction, agent: string, { upTo }: Frontier, limit: number): Promise<ReadyExecution[]> {
    const highestFirst = [...upTo].sort(([one], [other]) => other - one);
    const found = highestFirst.map(([priority, from]) => findFrom(tx.db, { agent, priority, from, limit }));
    return (await Promise.all(found)).flat().slice(0, limit);
  }

  /** Of equal or higher priority than the last one taken, nothing is ready before it; where nothing was left, nothing at all. */
  private move(frontier: Frontier, taken: readonly ReadyExecution[], nothingLeft: boolean, final: number): void {
    const last = taken.at(-1);
    if (!last && !nothingLeft) return;
    for (const [priority, place] of frontier.upTo) {
      if (!nothingLeft && priority < last!.priority) continue;
      const next = nothingLeft || priority > last!.priority ? final : Math.min(last!.seq, final);
      frontier.upTo.set(priority, Math.max(place, next));
    }
  }

  private isDue({ wholeAt }: Frontier): boolean {
    return this.clock.now() >= wholeAt;
  }

  private frontierOf(agent: string): Frontier {
    let frontier = this.frontiers.get(agent);
    if (!frontier) {
      frontier = { upTo: new Map(this.prioritiesOf(agent).map((priority) => [priority, 0])), wholeAt: 0, sawNotAll: false };
      this.frontiers.set(agent, frontier);
    }
    return frontier;
  }

  /** Those that its subscriptions give. Others, of an earlier configuration, come with the look at the whole. */
  private prioritiesOf(agent: string): number[] {
    return this.catalog.agent(agent)?.subscriptions.flatMap(({ priority }) => [2 * priority, 2 * priority - 1]) ?? [];
  }
}

const COLUMNS = ['id', 'agent', 'correlation_id', 'attempt', 'direct', 'batch', 'priority', 'seq', 'traceparent', 'created_at'] as const;

const findAll = prepared<{ agent: string; limit: number }, ReadyExecution>((db, place) =>
  db
    .selectFrom('executions')
    .select(COLUMNS)
    .where('agent', '=', place('agent'))
    // A literal, since a partial index serves no query whose state is a parameter.
    .where('state', '=', sql.lit('pending' as const))
    .where('available_at', 'is', null)
    .orderBy('priority', 'desc')
    .orderBy('seq')
    .limit(place('limit')),
);

const findFrom = prepared<{ agent: string; priority: number; from: number; limit: number }, ReadyExecution>((db, place) =>
  db
    .selectFrom('executions')
    .select(COLUMNS)
    .where('agent', '=', place('agent'))
    .where('state', '=', sql.lit('pending' as const))
    .where('available_at', 'is', null)
    .where('priority', '=', place('priority'))
    .where('seq', '>', place('from'))
    .orderBy('seq')
    .limit(place('limit')),
);
