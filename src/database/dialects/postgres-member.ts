import { type Kysely, sql } from 'kysely';

import { preparedWithList } from '../prepared.js';
import type { Schema } from '../schema.js';
import type { Transaction } from '../unit-of-work.js';
import type { TransactionConnection } from './postgres-connection.js';
import type { Work } from './postgres-groups.js';

type Effect = () => void;

/** A transaction failed with `cause`. Unless it is rolled back, it is unknown whether it was written. */
export class Undone extends Error {
  constructor(
    override readonly cause: unknown,
    readonly isRolledBack: boolean,
  ) {
    super('a transaction failed', { cause });
  }
}

/** One of the functions that run in a transaction, and its effects. */
export class Member<T> {
  readonly effects: Effect[] = [];
  private readonly answered: Promise<Effect>[] = [];
  readonly undone: ((isUnknown: boolean) => void)[] = [];

  constructor(
    private readonly work: Work<T>,
    private readonly connection: TransactionConnection,
  ) {}

  /** Runs it as the only one. */
  run(db: Kysely<Schema>): Promise<T> {
    const tx: Transaction = {
      ...this.transaction(db),
      lock: (names) => lock(db, names),
      each: (items, work) =>
        this.connection.members.run(items.map((item) => (each) => work(this.transaction(each), item))),
    };
    return this.work(tx);
  }

  /** Adds the effects of the answers for which it did not wait. */
  async answersCame(): Promise<void> {
    this.effects.push(...(await Promise.all(this.answered)));
  }

  runInGroup(db: Kysely<Schema>): Promise<T> {
    return this.work(this.transaction(db));
  }

  /** As a part of a transaction: another part may hold the names, or change the same rows. */
  private transaction(db: Kysely<Schema>): Transaction {
    const later = (effect: Effect): void => void this.effects.push(effect);
    const tx: Transaction = {
      db,
      lock: async (names) => {
        if (names.length > 0) throw new Error('a part of a transaction must not lock names');
      },
      each: async (items, work) => {
        const values = [];
        for (const item of items) values.push(await work(tx, item));
        return values;
      },
      whenVisible: later,
      afterCommit: later,
      withAnswer: (query, effect) => {
        const answer = query.then((value) => () => effect(value));
        // The commit rejects with its error.
        answer.catch(() => undefined);
        this.answered.push(answer);
      },
      whenUndone: (effect) => void this.undone.push(effect),
    };
    return tx;
  }
}

// Names are sorted, so that two transactions never wait for each other's names.
async function lock(db: Kysely<Schema>, names: readonly string[]): Promise<void> {
  await takeLocks(db, {}, [...new Set(names)].sort());
}

// Values are read in their order.
const takeLocks = preparedWithList<object, string, unknown>((db, _place, names) =>
  db
    .selectFrom(
      sql<{ name: string }>`(values ${sql.join(names.map((name) => sql`(cast(${name} as text))`))})`.as<'names'>(
        sql`names (name)`,
      ),
    )
    .select(({ fn, lit }) =>
      fn('pg_advisory_xact_lock', [fn('hashtextextended', ['names.name', lit(0)])]).as('locked'),
    ),
);
