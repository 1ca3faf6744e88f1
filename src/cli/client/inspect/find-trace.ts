import type { TraceBody } from '../../../features/correlations/dto/trace-body.js';
import { ClientError } from '../client-errors.js';
import { find, idIn, unknown } from '../look-up.js';
import type { Server } from '../server.js';
import { typedCommand } from '../typed-command.js';

/** The largest page of a trace. */
const LARGEST_PAGE = 500;

type Found = Pick<TraceBody, 'correlation_id'>;

/**
 * Returns the correlation with this id, or the one to which an artifact, an execution or a run with this id belongs.
 * The id of a run is the one of its correlation. Throws a ClientError if there is none.
 */
export async function correlationOf(server: Server, id: string): Promise<string> {
  const status = await server.get<{ state: string }>(idIn('/api/v1/correlations/{id}/status', id));
  if (status.state !== 'not_found') return id;
  const found = (await find<Found>(server, 'execution', id)) ?? (await find<Found>(server, 'artifact', id));
  if (found) return found.correlation_id;
  if (await find(server, 'batch', id))
    throw new ClientError(
      `${id} is a batch, and each of its rows is a separate run; ${typedCommand(server.url, 'executions')} lists the newest executions`,
    );
  throw await unknown(server, id, ['correlation', 'run', 'artifact', 'execution']);
}

/** Returns the trace with the first `limit` artifacts. `truncated` says whether there are more. */
export async function traceOf(server: Server, correlationId: string, limit: number): Promise<TraceBody> {
  const trace = await pageOf(server, correlationId, limit);
  const executions = new Map(trace.executions.map((execution) => [execution.id, execution]));
  while (trace.truncated && trace.artifacts.length < limit) {
    const left = limit - trace.artifacts.length;
    const next = await pageOf(server, correlationId, left, trace.artifacts.at(-1)!.id);
    trace.artifacts.push(...next.artifacts);
    for (const execution of next.executions) executions.set(execution.id, execution);
    trace.truncated = next.truncated && next.artifacts.length > 0;
  }
  return { ...trace, executions: [...executions.values()] };
}

function pageOf(server: Server, correlationId: string, limit: number, after?: string): Promise<TraceBody> {
  const query = new URLSearchParams({ limit: String(Math.min(limit, LARGEST_PAGE)), ...(after && { after }) });
  return server.get<TraceBody>(`${idIn('/api/v1/correlations/{id}/trace', correlationId)}?${query}`);
}
