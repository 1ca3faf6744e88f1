/**
 * A table whose rows wait in queues, are claimed by any process, and are leased until their outcome is committed. The
 * columns and partial indexes that claiming and leases use are the same in each such table.
 */
export interface LeasedTable {
  /** The type is the table that has every column used for claims and leases. */
  readonly name: 'executions';
  /** The column with the queue in which a row waits: its agent, or the target of a delivery. */
  readonly queue: 'agent';
  /** Further columns to read when a row is claimed or has lost its lease. */
  readonly columns: readonly string[];
  /**
   * If set, only rows in which this column is null may be claimed from their queue; other rows are claimed in another
   * way.
   */
  readonly owner?: 'assignee';
}

export const leasedTable = (
  name: 'executions' | 'deliveries',
  queue: 'agent' | 'queue',
  columns: readonly string[],
): LeasedTable => ({
  name: name as 'executions',
  queue: queue as 'agent',
  columns,
});

/** The columns that are read of every row. */
export interface LeasedRow {
  id: string;
  queue: string;
  priority: number;
  seq: number;
  created_at: number;
}

/** The columns to read of a table, under their names in LeasedRow. */
export const columnsOf = ({ queue, columns }: LeasedTable) =>
  ['id', `${queue} as queue`, 'priority', 'seq', 'created_at', ...columns] as [
    'id',
    'agent as queue',
    'priority',
    'seq',
    'created_at',
  ];
