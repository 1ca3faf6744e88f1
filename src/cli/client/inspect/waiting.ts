import type { ListedExecutionBody } from '../../../features/executions/dto/execution-body.js';
import type { WaitingExecutionBody } from '../../../features/waiting/dto/correlation-waiting-body.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { type Page, pagesOf, queryOf } from '../paging.js';
import type { Column } from '../printing/table.js';
import { toTheSecond } from '../printing/texts.js';
import type { Server } from '../server.js';
import { correlationOf } from './find-trace.js';
import { limitOf, printPages } from './list.js';
import { reasonOf, type Wait, waitsOf } from './reasons-to-wait.js';

/** A wait of the list of all correlations. */
type ListedWait = Wait & { correlation_id?: string | null };

/** Prints what a correlation waits for, or everything that waits for artifacts, for people, or for a process. */
export async function showWaiting(
  id: string | undefined,
  { limit, ...options }: ClientOptions & { limit?: string },
): Promise<void> {
  const { server, output } = connectionOf(options);
  const most = limitOf(limit);
  const pages: AsyncGenerator<Page<ListedWait>> =
    id === undefined ? allWaits(server, most) : waitsOf(server, await correlationOf(server, id), most);
  // A reason that is cut does not help, so the terminal wraps it.
  const none =
    id === undefined
      ? 'nothing waits for artifacts, for people or for a process; starling limit list shows what waits for limits'
      : 'nothing waits';
  await printPages(output, pages, { limit: most, columns: COLUMNS, width: Infinity, none });
}

async function* allWaits(server: Server, limit: number): AsyncGenerator<Page<ListedWait>> {
  let left = limit;
  const lists = [
    () => pagesOf<ListedWait>(server, '/api/v1/waiting', queryOf({}), left),
    () => executions(server, { external: true }, left),
    () => executions(server, { withoutAgent: true }, left),
  ];
  for (const list of lists) {
    if (left === 0) return yield { items: [], hasMore: true };
    for await (const page of list()) {
      left -= page.items.length;
      yield page;
      if (page.hasMore && left === 0) return;
    }
  }
}

async function* executions(
  server: Server,
  filters: Record<string, boolean>,
  limit: number,
): AsyncGenerator<Page<ListedWait>> {
  for await (const { items, hasMore } of pagesOf<ListedExecutionBody>(
    server,
    '/api/v1/executions',
    queryOf(filters),
    limit,
  ))
    yield { items: items.filter(({ without_agent }) => filters.withoutAgent || !without_agent).map(waitOf), hasMore };
}

const waitOf = (execution: ListedExecutionBody): WaitingExecutionBody & { correlation_id: string } => ({
  kind: kindOf(execution),
  execution_id: execution.id,
  agent: execution.agent,
  attempt: execution.attempt,
  since: execution.created_at,
  until: execution.lease_until ?? execution.next_attempt_at,
  limit: null,
  assignee: execution.assignee,
  claimed_by: execution.claimed_by,
  due_at: execution.due_at,
  correlation_id: execution.correlation_id,
});

function kindOf({ without_agent, lease_until, next_attempt_at }: ListedExecutionBody): WaitingExecutionBody['kind'] {
  if (without_agent) return 'no_process';
  if (lease_until !== null) return 'held';
  return next_attempt_at === null ? 'unclaimed' : 'retry';
}

const COLUMNS: Column<ListedWait>[] = [
  { title: 'KIND', of: ({ kind }) => kind, style: () => 'yellow' },
  { title: 'AGENT', of: (wait) => ('agent' in wait ? wait.agent : null), style: () => 'bold' },
  { title: 'SINCE', of: ({ since }) => toTheSecond(since) },
  { title: 'UNTIL', of: ({ until }) => toTheSecond(until) },
  { title: 'CORRELATION', of: (wait) => wait.correlation_id ?? null },
  { title: 'EXECUTION', of: (wait) => ('execution_id' in wait ? wait.execution_id : null) },
  { title: 'WHAT', of: reasonOf },
];
