import type { Kysely } from 'kysely';

import type { SharedStatement } from '../prepared.js';
import type { Schema } from '../schema.js';

/** A query of one member. */
interface Call {
  /** Null for a query that runs by itself. */
  shared: SharedStatement<unknown, unknown> | null;
  values: unknown;
  /** Runs it for this member alone. */
  run: () => Promise<unknown[]>;
  /** Whether the member waits for its rows. */
  answers: boolean;
  resolve: (rows: unknown[]) => void;
  reject: (error: unknown) => void;
}

/** How a member runs its queries. */
export interface MemberQueries {
  /** `answers`: whether the query returns rows. */
  alone(run: () => Promise<unknown[]>, answers: boolean): Promise<unknown[]>;
  share<Values, Row>(statement: SharedStatement<Values, Row>, values: Values): Promise<Row[]>;
}

/**
 * Runs functions at the same time in one transaction of a connection, each on different rows. Their queries are sent
 * when each of them waits for an answer or has ended, and those that run the same statement run it once. The order of
 * the queries of each function stays.
 */
export class Members {
  private readonly dbs: Kysely<Schema>[] = [];
  private group: Group;

  /** `db`: of the transaction. `makeDb` makes one that runs its queries as those of a member. */
  constructor(
    private readonly db: Kysely<Schema>,
    private readonly makeDb: (queries: MemberQueries) => Kysely<Schema>,
  ) {
    this.group = new Group(db, 0);
  }

  /** Rejects with the first error, when all functions have ended. */
  run<T>(works: readonly ((db: Kysely<Schema>) => Promise<T>)[]): Promise<T[]> {
    this.group = new Group(this.db, works.length);
    return this.group.run(works.map((work, index) => () => work(this.dbOf(index))));
  }

  private dbOf(index: number): Kysely<Schema> {
    return (this.dbs[index] ??= this.makeDb({
      alone: (run, answers) => this.group.add(index, { shared: null, values: null, run, answers }),
      share: <Values, Row>(shared: SharedStatement<Values, Row>, values: Values) => {
        const run = (): Promise<unknown[]> => shared.one(this.db, values);
        const call = { shared: shared as SharedStatement<unknown, unknown>, values, run, answers: shared.answers };
        return this.group.add(index, call) as Promise<Row[]>;
      },
    }));
  }
}

class Group {
  private readonly queues: Call[][];
  private inFlight = 0;
  private isScheduled = false;
  private failure: { error: unknown } | null = null;

  constructor(
    private readonly db: Kysely<Schema>,
    size: number,
  ) {
    this.queues = Array.from({ length: size }, () => []);
  }

  async run<T>(works: readonly (() => Promise<T>)[]): Promise<T[]> {
    const values = works.map(async (work) => {
      try {
        return await work();
      } catch (error) {
        this.fail(error);
        throw error;
      }
    });
    await Promise.allSettled(values);
    if (this.failure) throw this.failure.error;
    this.sendAll();
    return Promise.all(values);
  }

  add(index: number, call: Omit<Call, 'resolve' | 'reject'>): Promise<unknown[]> {
    if (this.failure) return Promise.reject(this.failure.error as Error);
    return new Promise((resolve, reject) => {
      this.queues[index]!.push({ ...call, resolve, reject });
      // The error of a change surfaces with a later query, at the latest with the commit.
      if (call.answers) this.schedule();
      else resolve([]);
    });
  }

  private schedule(): void {
    if (this.isScheduled || this.inFlight > 0) return;
    this.isScheduled = true;
    // Runs after the promises of this turn: then every function waits or has ended.
    process.nextTick(() => {
      this.isScheduled = false;
      this.sendAll();
    });
  }

  private sendAll(): void {
    for (let next = this.first(); next; next = this.first()) this.send(this.take(next));
  }

  private first(): Call[] | undefined {
    return this.queues.find((queue) => queue.length > 0);
  }

  /** Takes the first query of a queue, and those of all queues that run the same statement and may run now. */
  private take(next: Call[]): Call[] {
    const { shared } = next[0]!;
    if (!shared) return [next.shift()!];
    return this.queues.flatMap((queue) => {
      if (shared.onlyInserts) return takeInserts(queue, shared);
      let count = 0;
      while (queue[count]?.shared === shared && (count === 0 || shared.addsRows)) count += 1;
      return queue.splice(0, count);
    });
  }

  private send(calls: Call[]): void {
    this.inFlight += 1;
    void this.answersOf(calls)
      .then(
        (answers) => calls.forEach(({ resolve }, index) => resolve(answers[index] ?? [])),
        (error: unknown) => this.fail(error, calls),
      )
      .then(() => {
        this.inFlight -= 1;
        if (this.first()) this.schedule();
      });
  }

  private async answersOf(calls: readonly Call[]): Promise<unknown[][]> {
    const [{ shared, run }] = calls as [Call];
    if (!shared || calls.length === 1) return [await run()];
    const values = calls.map((call) => call.values);
    return shared.many(this.db, values);
  }

  /** Ends everything that waits: the transaction will be rolled back. */
  private fail(error: unknown, calls: readonly Call[] = []): void {
    this.failure ??= { error };
    for (const { reject } of [...calls, ...this.queues.flatMap((queue) => queue.splice(0))]) reject(error);
  }
}

/** Takes the calls of the statement at the beginning of the queue, also from behind other statements that only insert. */
function takeInserts(queue: Call[], statement: Call['shared']): Call[] {
  const end = queue.findIndex(({ shared }) => !shared?.onlyInserts);
  const inserts = queue.splice(0, end === -1 ? queue.length : end);
  queue.unshift(...inserts.filter(({ shared }) => shared !== statement));
  return inserts.filter(({ shared }) => shared === statement);
}
