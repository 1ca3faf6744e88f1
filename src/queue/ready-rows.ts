import { type Expression, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';

import type { Clock } from '../common/clock.js';
import { scheduler } from '../common/scheduler.js';
import { memoize, type Prepared, prepared } from '../database/prepared.js';
import type { Schema } from '../database/schema.js';
import type { Reader, Transaction, UnitOfWork } from '../database/unit-of-work.js';
import { byRank, inOrder, type Queue, type QueuedRow, type QueueTable, type Rank } from './queue.js';

export interface FoundRows<Row> {
  queue: string;
  ready: Row[];
  /** True if the queue had fewer ready rows than were asked for. */
  isAll: boolean;
  /**
   * After the commit, `taken`, the first of these rows, are no longer ready. `nothingLeft`: no other row is ready
   * either.
   */
  moveFrontier(taken: readonly Row[], nothingLeft: boolean): void;
  /** Stores in the claim's transaction that these rows were claimed. */
  settle?(taken: readonly Row[]): Promise<void>;
}

/** How much of a queue is known to contain no ready rows. */
interface Frontier {
  /** In the order of claims, for each rank the position up to which no row is ready. */
  readonly ranks: (Rank & { upTo: number })[];
  /** When the whole queue is searched again (epoch ms). */
  wholeAt: number;
  /**
   * The last search of the whole queue found as many rows as it asked for, so rows with ranks of an earlier
   * configuration may remain.
   */
  sawNotAll: boolean;
}

const WHOLE_EVERY_MS = 30_000;
const FINAL_EVERY_MS = 100;
/** Queues with a frontier in memory. It is bounded because clients may create any number of queues. */
const MAX_QUEUES = 10_000;

/**
 * Finds rows that are ready to be claimed. Postgres keeps dead rows and index entries until no session can see them.
 * While a session holds an old snapshot, each search from the front of a queue would scan everything claimed since.
 * Each process therefore remembers, by queue and rank, the position up to which nothing is ready, and searches from
 * there. A row that returns to the queue before that position (`returned`) causes a search of the whole queue, and so
 * does the passing of time. SQLite keeps no dead rows.
 */
export class ReadyRows<Row extends QueuedRow> {
  private readonly findAll: Prepared<{ queue: string; limit: number }, Row>;
  private readonly findBeyond: ReturnType<typeof findingBeyond<Row>>;
  private readonly frontiers = new Map<string, Frontier>();
  private final = 0;
  private finalAt = -Infinity;

  /**
   * `ranksOf` returns the ranks that new rows of a queue get. Searches of the whole queue find rows with other ranks, of
   * an earlier configuration. Null if rows can get any rank: then every search covers the whole queue.
   */
  constructor(
    private readonly queue: Queue<Row>,
    private readonly ranksOf: (queue: string) => Rank[] | null,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {
    this.findAll = findingAll(queue);
    this.findBeyond = findingBeyond(queue);
  }

  /** Rows of the queue that are not new are ready again. The next search covers the whole queue. */
  returned(queue: string): void {
    this.frontiers.delete(queue);
  }

  forget(): void {
    this.frontiers.clear();
    this.final = 0;
  }

  /** Call this with every search. From time to time it asks up to which position all rows are visible. */
  look(): void {
    if (!this.unitOfWork.dialect.keepsDeadRows || scheduler.elapsed() - this.finalAt < FINAL_EVERY_MS) return;
    this.finalAt = scheduler.elapsed();
    this.unitOfWork.finalPosition(this.queue.table).then(
      (final) => (this.final = final),
      // The search itself reports what is wrong with the database.
      () => undefined,
    );
  }

  /** Finds the first `limit` rows of a queue, by rank and then by the order in which they were made. */
  async find(tx: Transaction, queue: string, limit: number): Promise<FoundRows<Row>> {
    const { final } = this;
    // The search and the move use this same frontier. If rows return to the queue in between, they start a new one.
    const frontier = this.frontierOf(queue);
    const isWhole = !this.unitOfWork.dialect.keepsDeadRows || this.isDue(queue, frontier);
    const ready = await (isWhole
      ? this.findAll(tx.db, { queue, limit })
      : this.findFromFrontier(tx, queue, frontier, limit));
    const isFull = ready.length === limit;
    const mustLookAgain = !isWhole && !isFull && frontier.sawNotAll;
    return {
      queue,
      ready,
      isAll: !isFull && !mustLookAgain,
      moveFrontier: (taken, nothingLeft) =>
        tx.afterCommit(() => {
          if (isWhole) this.looked(frontier, ready, isFull);
          if (mustLookAgain) frontier.wholeAt = 0;
          this.move(frontier, taken, nothingLeft, final);
        }),
    };
  }

  /** Even if rows are left, the next search of the whole queue waits: under steady load a queue is never empty. */
  private looked(frontier: Frontier, ready: readonly Row[], isFull: boolean): void {
    frontier.wholeAt = this.clock.now() + WHOLE_EVERY_MS;
    frontier.sawNotAll = isFull;
    add(frontier.ranks, ready);
  }

  private async findFromFrontier(tx: Transaction, queue: string, { ranks }: Frontier, limit: number): Promise<Row[]> {
    const found = await this.findBeyond(tx.db, { queue, limit }, ranks);
    return found.sort(inOrder).slice(0, limit);
  }

  /**
   * Moves the frontier past what was taken: before the last row taken, no row of the same rank or one before it is ready.
   */
  private move(frontier: Frontier, taken: readonly Row[], nothingLeft: boolean, final: number): void {
    const last = taken.at(-1);
    if (!last && !nothingLeft) return;
    for (const rank of frontier.ranks) {
      const order = nothingLeft ? -1 : byRank(rank, last!);
      if (order > 0) continue;
      rank.upTo = Math.max(rank.upTo, order < 0 ? final : Math.min(last!.seq, final));
    }
  }

  private isDue(queue: string, { wholeAt }: Frontier): boolean {
    return this.clock.now() >= wholeAt || this.ranksOf(queue) === null;
  }

  private frontierOf(queue: string): Frontier {
    let frontier = this.frontiers.get(queue);
    if (!frontier) {
      if (this.frontiers.size >= MAX_QUEUES) this.frontiers.clear();
      frontier = { ranks: [], wholeAt: 0, sawNotAll: false };
      add(frontier.ranks, this.ranksOf(queue) ?? []);
      this.frontiers.set(queue, frontier);
    }
    return frontier;
  }
}

/** Adds the ranks that are new. */
function add(known: Frontier['ranks'], ranks: readonly Rank[]): void {
  for (const rank of ranks) {
    if (known.some((other) => byRank(rank, other) === 0)) continue;
    known.push({ priority: rank.priority, background: rank.background, upTo: 0 });
  }
  known.sort(byRank);
}

const findingAll = <Row extends QueuedRow>(queue: Queue<Row>) =>
  prepared<{ queue: string; limit: number }, Row>((db, place) => firstReady(db, queue, place('queue'), place('limit')));

type RankValues = Record<`${'priority' | 'background' | 'upTo'}${number}`, number>;

/** Finds the first rows of each rank beyond a position, in one query. */
const findingBeyond = <Row extends QueuedRow>(queue: Queue<Row>) => {
  const ofRanks = memoize((count: number) =>
    prepared<RankValues & { queue: string; limit: number }, Row>((db, place) => {
      const parts = Array.from({ length: count }, (_, index) =>
        firstReady(db, queue, place('queue'), place('limit'), (rows) =>
          areReady(rows)
            .where('priority', '=', place(`priority${index}`))
            .where('background', '=', place(`background${index}`))
            // The primary key fits a condition of the position alone. Postgres would take it if it expects few rows, and
            // read all that are not claimed.
            .where(sql<boolean>`(background, seq) > (${place(`background${index}`)}, ${place(`upTo${index}`)})`),
        ),
      );
      return allOf(db, parts);
    }),
  );
  return async (
    db: Reader,
    search: { queue: string; limit: number },
    ranks: readonly (Rank & { upTo: number })[],
  ): Promise<Row[]> => {
    if (ranks.length === 0) return [];
    const values = ranks.flatMap(({ priority, background, upTo }, index) => [
      [`priority${index}`, priority],
      [`background${index}`, background],
      [`upTo${index}`, upTo],
    ]);
    return ofRanks(ranks.length)(db, { ...search, ...(Object.fromEntries(values) as RankValues) });
  };
};

type Rows<Row> = SelectQueryBuilder<Schema, QueueTable, Row>;

/** The condition of the indexes of claims. */
const areReady = <Row>(rows: Rows<Row>): Rows<Row> =>
  rows
    // A literal: Postgres does not use a partial index for a query with the state as a parameter.
    .where('state', '=', sql.lit('pending' as const))
    .where('available_at', 'is', null);

/**
 * Selects the first rows of a queue that may be claimed, in the order of claims. `ready` adds the condition of
 * another index of ready rows. Rows that may not be claimed here are not read, however many wait: each value that the queue `needs` is a
 * range of the index.
 */
export function firstReady<Row extends QueuedRow>(
  db: Reader,
  queue: Queue<Row>,
  queueName: Expression<string>,
  limit: RawBuilder<number>,
  ready: (rows: Rows<Row>) => Rows<Row> = areReady,
): Rows<Row> {
  const { name, needs, unless } = queue;
  const found = ready(queue.select(db))
    .where(name, '=', queueName)
    .$if(unless !== undefined, (some) => some.where(unless!, 'is', null));
  const inOrderOfClaims = (rows: Rows<Row>) =>
    rows.orderBy('priority', 'desc').orderBy('background').orderBy('seq').limit(limit);
  if (!needs) return inOrderOfClaims(found);
  // Sorting by a column that has one value changes nothing, but without it Postgres does not see that rows in which the
  // column is null have the order of the index.
  const { column, had } = needs;
  const parts = [found.where(column, 'is', null), ...had.map((value) => found.where(column, '=', value as never))].map(
    (part) => inOrderOfClaims(part.orderBy(column)),
  );
  return parts.length === 1 ? parts[0]! : inOrderOfClaims(allOf(db, parts));
}

/** Selects the rows of all parts. */
function allOf<Row>(db: Reader, parts: readonly Rows<Row>[]): Rows<Row> {
  // SQLite takes a part that is sorted or limited only as a table.
  const tables = parts.map((part, index) => db.selectFrom(part.as(`part${index}`)).selectAll());
  const union = tables.slice(1).reduce((all, part) => all.unionAll(part), tables[0]!);
  return db.selectFrom(union.as('parts')).selectAll() as never;
}
