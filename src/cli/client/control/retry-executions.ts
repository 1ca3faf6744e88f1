import type { ExecutionBody } from '../../../features/executions/dto/execution-body.js';
import type { MatchedBody, OperationBody } from '../../../features/operations/dto/operation-body.js';
import { abortOnSigint, INTERRUPTED } from '../abort-on-sigint.js';
import { ClientError } from '../client-errors.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { fieldsOf } from '../inspect/executions.js';
import { refuseUnknownNames } from '../known-names.js';
import { idIn, orAdvise } from '../look-up.js';
import { count } from '../printing/texts.js';
import { inTypedOptions } from '../typed-options.js';
import { followOperation } from './follow-operation.js';

interface RetryFilters {
  agent?: string;
  failureGroup?: string;
  errorType?: string;
  correlationId?: string;
  from?: string;
  to?: string;
}

/** Runs one failed execution again, or all that match the filters. */
export async function retry(
  id: string | undefined,
  { url, json, dryRun = false, ...filters }: ClientOptions & RetryFilters & { dryRun?: boolean },
): Promise<void> {
  const isFiltered = Object.keys(filters).length > 0;
  if (id === undefined && !isFiltered)
    throw new ClientError('give the id of a failed execution, or a filter such as --agent or --failure-group');
  if (id !== undefined && (isFiltered || dryRun))
    throw new ClientError('give the id of an execution or filters, not both; --dry-run needs filters');
  return id === undefined ? retryAll(filters, dryRun, { url, json }) : retryOne(id, { url, json });
}

async function retryOne(id: string, options: ClientOptions): Promise<void> {
  const { server, output } = connectionOf(options);
  const answer = server.post<ExecutionBody>(idIn('/api/v1/executions/{id}/retry', id), null);
  const { body } = await orAdvise(server, 'execution', id, answer);
  await output.thing(body, () => fieldsOf(body));
}

async function retryAll(filters: RetryFilters, isDryRun: boolean, options: ClientOptions): Promise<void> {
  const { server, output } = connectionOf(options);
  const { failureGroup: group, errorType: error_type, correlationId: correlation_id, ...others } = filters;
  const request = { group, error_type, correlation_id, ...others, dry_run: isDryRun };
  const { body } = await server
    .post<OperationBody | MatchedBody>('/api/v1/executions/retry', JSON.parse(JSON.stringify(request)) as typeof others)
    .catch((error: unknown) =>
      Promise.reject(inTypedOptions(error, Object.keys(request), { group: '--failure-group' })),
    );
  if (body.matched === 0) await refuseUnknownNames(server, filters);
  if (!('operation_id' in body)) return output.thing(body, () => [['would retry', count(body.matched)]]);
  const signal = abortOnSigint();
  let ended: OperationBody;
  try {
    ended = await followOperation(server, body, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    output.hint(`The operation continues: GET ${server.url}/api/v1/operations/${body.operation_id}`);
    process.exitCode = INTERRUPTED;
    return;
  }
  await output.thing(ended, () => [
    ['operation', ended.operation_id],
    ['state', ended.state],
    ['matched', count(ended.matched)],
    ['retried', count(ended.done)],
    ['not retried', ended.failed > 0 ? `${count(ended.failed)}, the last because: ${ended.last_error}` : null],
  ]);
  process.exitCode = ended.state === 'completed' && ended.failed === 0 ? 0 : 1;
}
