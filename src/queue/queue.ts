import type { Selectable, SelectQueryBuilder } from 'kysely';

import type { Schema } from '../database/schema.js';
import type { Reader } from '../database/unit-of-work.js';

/** The columns that claims and leases use. */
type QueueColumn =
  | 'id'
  | 'seq'
  | 'priority'
  | 'background'
  | 'state'
  | 'attempt_started_at'
  | 'available_at'
  | 'lease_token'
  | 'lease_owner'
  | 'lease_until'
  | 'claim'
  | 'lost_leases'
  | 'created_at'
  | 'started_at';

/** The tables that have these columns. They also have the same partial indexes on them. */
export type QueueTable = {
  [Table in keyof Schema]: QueueColumn extends keyof Schema[Table] ? Table : never;
}[keyof Schema];

type ColumnOf<Table extends QueueTable> = Table extends QueueTable ? keyof Schema[Table] & string : never;

/** The columns with texts that are never null. */
type NameColumnOf<Table extends QueueTable> = {
  [Column in keyof Schema[Table]]: Schema[Table][Column] extends string ? Column : never;
}[keyof Schema[Table]];

type NameColumn = { [Table in QueueTable]: NameColumnOf<Table> }[QueueTable];

/** The `available_at` of rows that something other than time makes claimable. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** The time of a pending retry (epoch ms); null if it may be claimed, or if no time makes it claimable. */
export const timeOfRetry = ({ available_at }: { available_at: number | null }): number | null =>
  available_at === NEVER ? null : available_at;

/** The columns that are read of every row. */
export interface QueuedRow {
  id: string;
  queue: string;
  priority: number;
  /** 1 for background work. */
  background: number;
  seq: number;
  created_at: number;
}

/** Rows of a queue with the same rank are claimed in the order in which they were made. */
export type Rank = Pick<QueuedRow, 'priority' | 'background'>;

/** Sorts by the order of claims: the higher priority first, then foreground work. */
export const byRank = (one: Rank, other: Rank): number =>
  other.priority - one.priority || one.background - other.background;

/** The position of a row among those of its queue that wait. */
export type Ordered = Rank & Pick<QueuedRow, 'seq'>;

export const inOrder = (one: Ordered, other: Ordered): number => byRank(one, other) || one.seq - other.seq;

/**
 * A table whose rows wait in named queues, are claimed by any process, and are leased until their outcome is committed.
 * A table whose rows are never claimed is something else, even if they have a lease (see Lease).
 */
export interface Queue<Row extends QueuedRow> {
  readonly table: QueueTable;
  /** The column with the name of the queue in which a row waits: its agent, or the target of a delivery. */
  readonly name: NameColumn;
  /**
   * If set, only rows in which this column is null may be claimed from their queue; other rows are claimed in another
   * way.
   */
  readonly unless?: ColumnOf<QueueTable>;
  /**
   * If set, only rows in which this column is null or has one of the values may be claimed here. In the indexes of
   * claims it follows the name.
   */
  readonly needs?: { readonly column: ColumnOf<QueueTable>; readonly had: readonly string[] };
  /** Selects the columns that are read of a row when it is claimed or has lost its lease. */
  select(db: Reader): SelectQueryBuilder<Schema, QueueTable, Row>;
}

/** The rows of a queue. */
export type RowOf<Of> = Of extends Queue<infer Row> ? Row : never;

/** Makes a queue of a table. `columns` are read in addition to those of QueuedRow. */
export function queueOver<Table extends QueueTable, Column extends ColumnOf<Table> & keyof Selectable<Schema[Table]>>(
  table: Table,
  name: NameColumnOf<Table> & NameColumn,
  columns: readonly Column[],
): Queue<QueuedRow & Pick<Selectable<Schema[Table]>, Column>> {
  const from: QueueTable = table;
  const nameColumn: NameColumn = name;
  const read: readonly ColumnOf<QueueTable>[] = columns;
  return {
    table,
    name,
    select: (db) =>
      db
        .selectFrom(from)
        .select(['id', `${nameColumn} as queue`, 'priority', 'background', 'seq', 'created_at', ...read])
        .$castTo(),
  };
}
