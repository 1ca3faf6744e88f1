/**
 * A table whose rows wait in queues, are claimed from there by any process, and are held by leases until their outcome is committed. What
 * claiming and leases write and search by has the same columns, and the same partial indexes, in each.
 */
export interface LeasedTable {
  /** Typed as the one of them that has every column that claiming and leases name. */
  readonly name: 'executions';
  /** The column that says in which queue a row waits: its agent, or the target that it goes to. */
  readonly queue: 'agent';
  /** What else is read of a row that is claimed, or whose lease was lost. */
  readonly columns: readonly string[];
  /** A column that is null in what anybody may claim from its queue; other rows are claimed in another way. Without it, all are anybody's. */
  readonly owner?: 'assignee';
}

export const leasedTable = (name: 'executions' | 'deliveries', queue: 'agent' | 'queue', columns: readonly string[]): LeasedTable => ({
  name: name as 'executions',
  queue: queue as 'agent',
  columns,
});

/** What is read of every row. */
export interface LeasedRow {
  id: string;
  queue: string;
  priority: number;
  seq: number;
  created_at: number;
}

/** What is read of each row of a table, by the names in LeasedRow. */
export const columnsOf = ({ queue, columns }: LeasedTable) =>
  ['id', `${queue} as queue`, 'priority', 'seq', 'created_at', ...columns] as ['id', 'agent as queue', 'priority', 'seq', 'created_at'];
