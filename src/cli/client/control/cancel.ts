import type { BatchBody } from '../../../features/batches/dto/batch-body.js';
import type { CorrelationStatusBody } from '../../../features/correlations/dto/correlation-status-body.js';
import type { CorrelationWaitingBody } from '../../../features/waiting/dto/correlation-waiting-body.js';
import type { RunBody } from '../../../http/dto/run-body.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { find, idIn, unknown } from '../look-up.js';
import type { Field } from '../printing/output.js';
import { count } from '../printing/texts.js';
import { summaryOf } from '../progress.js';
import type { Server } from '../server.js';
import { confirm } from './confirm.js';

/** More than this cannot be cancelled by a wrong id without a question. */
const MOST_WITHOUT_ASKING = 10;

interface Target {
  /** Names in words what is cancelled. */
  name: string;
  /** How many rows or executions have not ended. */
  open: number;
  cancel: () => Promise<{ body: object; fields: Field[] }>;
}

/** Cancels a correlation, a run or a batch. Asks first if much of it has not ended. */
export async function cancel(
  id: string,
  { yes = false, ...options }: ClientOptions & { yes?: boolean },
): Promise<void> {
  const { server, output } = connectionOf(options);
  const target = (await correlation(server, id)) ?? (await batch(server, id)) ?? (await run(server, id));
  if (!target) throw await unknown(server, id, ['correlation', 'run', 'batch']);
  if (target.open > MOST_WITHOUT_ASKING && !yes) await confirm(`Cancel ${target.name}?`);
  const { body, fields } = await target.cancel();
  await output.thing(body, () => fields);
}

async function correlation(server: Server, id: string): Promise<Target | undefined> {
  const { state } = await server.get<CorrelationStatusBody>(idIn('/api/v1/correlations/{id}/status', id));
  if (state === 'not_found') return undefined;
  const { counts } = await server.get<CorrelationWaitingBody>(idIn('/api/v1/correlations/{id}/waiting?limit=1', id));
  const open = Object.values(counts).reduce((sum, waits) => sum + waits, 0);
  return {
    name: `the correlation ${id}, in which ${count(open)} executions and other waits have not ended`,
    open,
    cancel: async () => {
      const { body } = await server.post<CorrelationStatusBody>(idIn('/api/v1/correlations/{id}/cancel', id), null);
      return { body, fields: [...stateOf('correlation', id, body.state), ['artifacts', count(body.artifact_count)]] };
    },
  };
}

async function batch(server: Server, id: string): Promise<Target | undefined> {
  const found = await find<BatchBody>(server, 'batch', id);
  if (!found) return undefined;
  const open = found.total_items - found.completed_items;
  return {
    name: `the batch ${id}, of which ${count(open)} rows have not ended`,
    open,
    cancel: async () => {
      const { body } = await server.post<BatchBody>(idIn('/batch/{id}/cancel', id), null);
      return { body, fields: [...stateOf('batch', id, body.status), ['rows', summaryOf(body)]] };
    },
  };
}

/** The row of a batch that has not begun is a run without a correlation. */
async function run(server: Server, id: string): Promise<Target | undefined> {
  if (!(await find<RunBody>(server, 'run', id))) return undefined;
  return {
    name: `the run ${id}`,
    open: 1,
    cancel: async () => {
      const { body } = await server.post<RunBody>(idIn('/run/{id}/cancel', id), null);
      return { body, fields: stateOf('run', id, body.status) };
    },
  };
}

const stateOf = (kind: string, id: string, state: string): Field[] => [
  [kind, id],
  ['state', state],
];
