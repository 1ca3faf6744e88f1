import { type Kysely, sql } from 'kysely';

import type { Schema } from '../schema.js';
import type { PositionedTable } from '../unit-of-work.js';

interface Sample {
  /** The last position that was assigned. */
  last: number;
  /** The virtual ids of the transactions that write to the table. Postgres never reuses them. */
  writers: string[];
}

/**
 * Finds the position up to which no row of a table can still appear. Positions are assigned before the commit, so a
 * reader may see 12 before 11, and writers must not wait for that. A transaction locks the table in a mode that
 * excludes no other, before it takes a position, and becomes visible before it releases the lock. So when all
 * transactions that held the lock at some moment have ended, all positions assigned until then are decided.
 * An instance is valid while the database runs: after a crash, Postgres assigns positions again that it had not written
 * to disk.
 */
export class PostgresPositions {
  private known = 0;
  private undecided: Sample | null = null;

  constructor(
    private readonly db: Kysely<Schema>,
    private readonly table: PositionedTable,
  ) {}

  /** Returns what is known after one sample. A call a few milliseconds later returns more, as writers have ended. */
  async final(): Promise<number> {
    // Read before the sample: with several calls at the same time, a sample that began before the undecided one says
    // nothing about its writers.
    const { undecided } = this;
    const sample = await this.look();
    if (undecided && !undecided.writers.some((writer) => sample.writers.includes(writer))) this.decide(undecided);
    if (sample.writers.length === 0) this.decide(sample);
    else this.undecided ??= sample;
    return this.known;
  }

  private decide({ last }: Sample): void {
    this.known = Math.max(this.known, last);
    this.undecided = null;
  }

  private async look(): Promise<Sample> {
    const { rows } = await look(this.table).execute(this.db);
    return rows[0]!;
  }
}

const writersOf = (table: PositionedTable) => sql<string[]>`array(
      select virtualtransaction from pg_locks
      where locktype = 'relation' and mode = 'RowExclusiveLock' and relation = ${table}::regclass
        and database = (select oid from pg_database where datname = current_database())
    )`;

/** Returns the virtual ids of the transactions that have written to the table and have not ended. */
export async function findWriters(db: Kysely<Schema>, table: PositionedTable): Promise<string[]> {
  const { rows } = await sql<{ writers: string[] }>`select ${writersOf(table)} as writers`.execute(db);
  return rows[0]!.writers;
}

// The query must read the position first and the locks second, so one depends on the other.
const look = (table: PositionedTable) => sql<Sample>`
  select coalesce(given.last, 0) as last,
    array(
      select virtualtransaction from pg_locks
      where given.last is not null and locktype = 'relation' and mode = 'RowExclusiveLock' and relation = ${table}::regclass
        and database = (select oid from pg_database where datname = current_database())
    ) as writers
  from (select pg_sequence_last_value(pg_get_serial_sequence(${table}, 'seq')::regclass) as last offset 0) as given`;
