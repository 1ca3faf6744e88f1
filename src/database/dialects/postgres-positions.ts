import { type Kysely, sql } from 'kysely';
import type { Schema } from '../schema.js';
import type { PositionedTable } from '../unit-of-work.js';

interface Sample {
  /** The last position that was given out. */
  last: number;
  /** The transactions that write to the table, by their virtual ids, which are never used again. */
  writers: string[];
}

/**
 * Up to which position no row of a table can still appear. Positions are given out before the commit, so that a reader may see 12
 * before 11; writers are not held up for that. Instead: a transaction locks the table, in a mode that keeps nobody out, before
 * it takes a position, and is seen by all before it lets go of that lock. So once everybody who held the lock at some moment has
 * gone, all positions that were given out until then are decided.
 *
 * One of these is good for as long as the database runs: after a crash it gives out positions again that it had not yet written down.
 */
export class PostgresPositions {
  private known = 0;
  private undecided: Sample | null = null;

  constructor(
    private readonly db: Kysely<Schema>,
    private readonly table: PositionedTable,
  ) {}

  /** What is known after one look; asked again a few milliseconds later it has moved on, as writers have ended. */
  async final(): Promise<number> {
    // Before the look: of several at once, one that began before the undecided one says nothing about its writers.
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

// The position first and the locks after it, in this order: hence the one depends on the other.
const look = (table: PositionedTable) => sql<Sample>`
  select coalesce(given.last, 0) as last,
    array(
      select virtualtransaction from pg_locks
      where given.last is not null and locktype = 'relation' and mode = 'RowExclusiveLock' and relation = ${table}::regclass
        and database = (select oid from pg_database where datname = current_database())
    ) as writers
  from (select pg_sequence_last_value(pg_get_serial_sequence(${table}, 'seq')::regclass) as last offset 0) as given`;
