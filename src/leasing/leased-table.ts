/**
 * A table whose rows wait in lines, are claimed from there by any process, and are held by leases until their outcome is committed. What
 * claiming and leases write and search by has the same columns, and the same partial indexes, in each.
 */
export interface LeasedTable {
  /** Typed as the one of them that has every column that claiming and leases name. */
  readonly name: 'executions';
  /** The column that says in which line a row waits: its agent, or the target that it goes to. */
  readonly line: 'agent';
  /** What else is read of a row that is claimed, or whose lease was lost. */
  readonly columns: readonly string[];
  /** A column that is null in what anybody may claim from its line; other rows are claimed in another way. Without it, all are anybody's. */
  readonly owner?: 'assignee';
}

export const leasedTable = (name: 'executions' | 'deliveries', line: 'agent' | 'line', columns: readonly string[]): LeasedTable => ({
  name: name as 'executions',
  line: line as 'agent',
  columns,
});

/** What is read of every row. */
export interface LeasedRow {
  id: string;
  line: string;
  priority: number;
  seq: number;
  created_at: number;
}

/** What is read of each row of a table, by the names in LeasedRow. */
export const columnsOf = ({ line, columns }: LeasedTable) =>
  ['id', `${line} as line`, 'priority', 'seq', 'created_at', ...columns] as ['id', 'agent as line', 'priority', 'seq', 'created_at'];
