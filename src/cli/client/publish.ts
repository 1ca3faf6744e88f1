import { readJsonArgument, secondsOf } from './argument-values.js';
import { ClientError } from './client-errors.js';
import { Output } from './printing/output.js';
import { serverAt } from './server.js';

export interface PublishOptions {
  url?: string;
  wait?: true;
  timeout?: string;
  tag?: string[];
  correlationId?: string;
}

const CORRELATION_HEADER = 'x-correlation-id';

/**
 * Publishes one artifact and prints the answer. Without `--wait` the answer includes the correlation id, for status
 * queries.
 */
export async function publish(type: string, json: string, options: PublishOptions): Promise<void> {
  const { wait = false, timeout, tag: tags, correlationId } = options;
  if (timeout !== undefined && !wait)
    throw new ClientError('--timeout: only valid with --wait; add --wait or remove --timeout');
  const payload = await readJsonArgument('json', json);
  const request = {
    type,
    payload,
    ...(tags && { tags }),
    ...(timeout !== undefined && { timeout: secondsOf('--timeout', timeout) }),
  };
  const sent: Record<string, string> = correlationId === undefined ? {} : { [CORRELATION_HEADER]: correlationId };
  const { body, headers } = await serverAt(options.url).post<object>(
    wait ? '/api/v1/artifacts/sync' : '/api/v1/artifacts',
    request,
    sent,
  );
  await new Output(true).json(wait ? body : { ...body, correlation_id: headers[CORRELATION_HEADER] });
}
