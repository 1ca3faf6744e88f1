import type { CompiledQuery, OperationNode, TableNode } from 'kysely';

/** A query that connections prepare once, under its name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** False for a change without a `returning` clause. */
  readonly answers: boolean;
  /**
   * Set for a change that may share a statement with others. `addsRows`: it only adds rows, whichever exist, and their order
   * has no meaning. `reads`: the other tables on which it depends.
   */
  readonly change: { readonly table: string; readonly addsRows: boolean; readonly reads: readonly string[] } | null;
}

/** Every combination is prepared on every connection, which takes memory in the server. */
const MOST_COMBINATIONS = 300;
/** A statement with more values takes so long by itself that combining it brings nothing. */
const MOST_VALUES = 64;

/** Tables whose rows are read in the order in which they were inserted, such as a queue, unless they say their positions. */
const IN_ORDER: readonly string[] = ['artifacts', 'correlations', 'deliveries', 'executions', 'failure_changes'];

const statements = new WeakMap<CompiledQuery, Statement>();
let named = 0;

const nextName = (): string => `q${(named += 1)}`;

export function statementOf(query: CompiledQuery): Statement {
  let statement = statements.get(query);
  if (!statement) {
    statement = { name: nextName(), text: query.sql, answers: answersRows(query), change: changeOf(query) };
    statements.set(query, statement);
  }
  return statement;
}

/**
 * Whether the statement may be combined with these changes. The parts of a combination do not see what the others
 * write, and Postgres chooses their order, so only one of them may use a table, except for new rows.
 */
export function canJoin(changes: readonly Statement[], { change }: Statement): boolean {
  if (!change) return false;
  return changes.every(
    ({ change: other }) =>
      other &&
      (other.table !== change.table || (other.addsRows && change.addsRows)) &&
      !change.reads.includes(other.table),
  );
}

/** The statements that the connections of one database send for several changes together. */
export class Combinations {
  private readonly made = new Map<string, Statement>();

  /**
   * Returns one statement that makes all changes and answers what the last one answers. Its values are those of the
   * changes, one after another. Null if there are too many combinations already.
   */
  of(changes: readonly Statement[]): Statement | null {
    const key = changes.map(({ name }) => name).join(' ');
    let statement = this.made.get(key);
    if (!statement) {
      if (this.made.size >= MOST_COMBINATIONS) return null;
      const { answers } = changes.at(-1)!;
      statement = { name: nextName(), text: textOf(changes), answers, change: null };
      this.made.set(key, statement);
    }
    return statement;
  }
}

function textOf(changes: readonly Statement[]): string {
  let before = 0;
  const texts = changes.map(({ text }) => {
    let highest = 0;
    const renumbered = text.replace(/\$(\d+)/g, (_, number: string) => {
      highest = Math.max(highest, Number(number));
      return `$${before + Number(number)}`;
    });
    before += highest;
    return renumbered;
  });
  const others = texts.slice(0, -1).map((text, index) => `change${index} as (${text})`);
  const last = texts.at(-1)!;
  // A statement has one `with`, which the last one may begin with.
  return `with ${others.join(', ')}${last.startsWith('with ') ? `, ${last.slice('with '.length)}` : ` ${last}`}`;
}

function answersRows({ query }: CompiledQuery): boolean {
  const { kind } = query;
  const isChange = kind === 'InsertQueryNode' || kind === 'UpdateQueryNode' || kind === 'DeleteQueryNode';
  return !isChange || query.returning !== undefined;
}

function changeOf({ query, sql, parameters }: CompiledQuery): Statement['change'] {
  if (parameters.length > MOST_VALUES) return null;
  const reads = [...sql.matchAll(/\b(?:from|join) "?(\w+)/gi)].map(([, table]) => table!);
  if (query.kind === 'InsertQueryNode') {
    const table = nameOf(query.into);
    const hasOrder = IN_ORDER.includes(table) && !query.columns?.some(({ column }) => column.name === 'seq');
    return { table, addsRows: !query.onConflict && !hasOrder, reads };
  }
  if (query.kind === 'UpdateQueryNode') return { table: nameOf(query.table), addsRows: false, reads };
  return null;
}

const nameOf = (node: OperationNode | undefined): string => (node as TableNode).table.identifier.name;
