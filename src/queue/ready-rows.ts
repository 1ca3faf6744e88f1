import { sql, type WhereInterface } from 'kysely';
import type { Clock } from '../common/clock.js';
import { type Prepared, prepared } from '../database/prepared.js';
import type { Schema } from '../database/schema.js';
import type { Transaction, UnitOfWork } from '../database/unit-of-work.js';
import { columnsOf, type LeasedRow, type LeasedTable } from './leased-table.js';

export interface FoundRows<Row> {
  queue: string;
  ready: Row[];
  /** There was room for more. */
  isAll: boolean;
  /** The first ones, `taken`, are no longer ready after the commit. `nothingLeft`: neither is any other. */
  take(taken: readonly Row[], nothingLeft: boolean): void;
}

/** How much of a queue is known to hold nothing that is ready. */
interface Frontier {
  /** By priority: the position up to which nothing is ready. */
  readonly upTo: Map<number, number>;
  /** When the whole queue is looked at again (epoch ms). */
  wholeAt: number;
  /** The last look at the whole found as many as it asked for: of an earlier configuration's priorities there may be others. */
  sawNotAll: boolean;
}

const WHOLE_EVERY_MS = 30_000;
const FINAL_EVERY_MS = 100;
/** Queues that are remembered; where they come from clients, there is no end of them. */
const MAX_QUEUES = 10_000;

/**
 * Finds what is ready to be claimed. Postgres keeps rows and index entries that no longer hold until nobody can see them any
 * more: while some session holds an old snapshot, every search from the front of a queue would pass all that was claimed since.
 * So each process remembers, by queue and priority, up to where nothing is ready, and searches from there; what comes back to the
 * queue behind that place (`returned`) has it searched as a whole, as the passing of time does. SQLite keeps nothing of the kind.
 */
export class ReadyRows<Row extends LeasedRow> {
  private readonly findAll: Prepared<{ queue: string; limit: number }, Row>;
  private readonly findFrom: Prepared<{ queue: string; priority: number; from: number; limit: number }, Row>;
  private readonly frontiers = new Map<string, Frontier>();
  private final = 0;
  private finalAt = -Infinity;

  /** `prioritiesOf`: those that a queue's rows are given now. Others, of an earlier configuration, come with the look at the whole. */
  constructor(
    private readonly table: LeasedTable,
    private readonly prioritiesOf: (queue: string) => number[],
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {
    this.findAll = findingAll(table);
    this.findFrom = findingFrom(table);
  }

  /** Rows of a queue are ready again that were not new: the whole queue is searched next. */
  returned(queue: string): void {
    this.frontiers.delete(queue);
  }

  forget(): void {
    this.frontiers.clear();
    this.final = 0;
  }

  /** To be called with every search: finds out, from time to time, up to which position every row has come into sight. */
  look(): void {
    if (this.unitOfWork.dialect.exclusive || performance.now() - this.finalAt < FINAL_EVERY_MS) return;
    this.finalAt = performance.now();
    this.unitOfWork.finalPosition(this.table.name).then(
      (final) => (this.final = final),
      // The search itself says what is wrong with the database.
      () => undefined,
    );
  }

  /** The first `limit` of a queue, by priority and then in the order of their making. */
  async find(tx: Transaction, queue: string, limit: number): Promise<FoundRows<Row>> {
    const { final } = this;
    // Searched and moved is the same one, even if others come back to the queue in between, which begin a new one.
    const frontier = this.frontierOf(queue);
    const isWhole = this.unitOfWork.dialect.exclusive || this.isDue(frontier);
    const ready = await (isWhole ? this.findAll(tx.db, { queue, limit }) : this.findBehind(tx, queue, frontier, limit));
    const isFull = ready.length === limit;
    const mustLookAgain = !isWhole && !isFull && frontier.sawNotAll;
    return {
      queue,
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

  /** Not again for a while, whatever is left: under a steady load, a queue is never seen empty. */
  private looked(frontier: Frontier, ready: readonly Row[], isFull: boolean): void {
    frontier.wholeAt = this.clock.now() + WHOLE_EVERY_MS;
    frontier.sawNotAll = isFull;
    for (const { priority } of ready) if (!frontier.upTo.has(priority)) frontier.upTo.set(priority, 0);
  }

  private async findBehind(tx: Transaction, queue: string, { upTo }: Frontier, limit: number): Promise<Row[]> {
    const highestFirst = [...upTo].sort(([one], [other]) => other - one);
    const found = highestFirst.map(([priority, from]) => this.findFrom(tx.db, { queue, priority, from, limit }));
    return (await Promise.all(found)).flat().slice(0, limit);
  }

  /** Of equal or higher priority than the last one taken, nothing is ready before it; where nothing was left, nothing at all. */
  private move(frontier: Frontier, taken: readonly Row[], nothingLeft: boolean, final: number): void {
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

  private frontierOf(queue: string): Frontier {
    let frontier = this.frontiers.get(queue);
    if (!frontier) {
      if (this.frontiers.size >= MAX_QUEUES) this.frontiers.clear();
      frontier = { upTo: new Map(this.prioritiesOf(queue).map((priority) => [priority, 0])), wholeAt: 0, sawNotAll: false };
      this.frontiers.set(queue, frontier);
    }
    return frontier;
  }
}

const findingAll = <Row extends LeasedRow>(table: LeasedTable) =>
  prepared<{ queue: string; limit: number }, Row>((db, place) =>
    db
      .selectFrom(table.name)
      .select(columnsOf(table))
      .where(table.queue, '=', place('queue'))
      // A literal, since a partial index serves no query whose state is a parameter.
      .where('state', '=', sql.lit('pending' as const))
      .where('available_at', 'is', null)
      .$call((ready) => ofNobody(ready, table))
      .orderBy('priority', 'desc')
      .orderBy('seq')
      .limit(place('limit'))
      .$castTo<Row>(),
  );

const ofNobody = <Query extends WhereInterface<Schema, 'executions'>>(ready: Query, { owner }: LeasedTable): Query =>
  owner ? (ready.where(owner, 'is', null) as Query) : ready;

const findingFrom = <Row extends LeasedRow>(table: LeasedTable) =>
  prepared<{ queue: string; priority: number; from: number; limit: number }, Row>((db, place) =>
    db
      .selectFrom(table.name)
      .select(columnsOf(table))
      .where(table.queue, '=', place('queue'))
      .where('state', '=', sql.lit('pending' as const))
      .where('available_at', 'is', null)
      .$call((ready) => ofNobody(ready, table))
      .where('priority', '=', place('priority'))
      .where('seq', '>', place('from'))
      .orderBy('seq')
      .limit(place('limit'))
      .$castTo<Row>(),
  );
