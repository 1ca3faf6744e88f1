import type { CorrelationStatusBody } from '../../../features/correlations/dto/correlation-status-body.js';
import type { ReplayBody } from '../../../features/replays/dto/replay-body.js';
import { abortOnSigint, INTERRUPTED } from '../abort-on-sigint.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { find, idIn, unknown } from '../look-up.js';
import type { Field } from '../printing/output.js';
import { count } from '../printing/texts.js';
import type { Server } from '../server.js';
import { typedCommand } from '../typed-command.js';
import { inTypedOptions } from '../typed-options.js';
import { untilEnded } from '../until-ended.js';

/** Replays a correlation, or one artifact of a client, and prints what began, or with `wait` how it ended. */
export async function replay(
  id: string,
  {
    mode,
    configuration,
    wait = false,
    ...options
  }: ClientOptions & { mode: string; configuration?: string; wait?: boolean },
): Promise<void> {
  const { server, output } = connectionOf(options);
  const { body: begun } = await server
    .post<ReplayBody>(await pathOf(server, id), { mode, ...(configuration !== undefined && { configuration }) })
    .catch((error: unknown) => Promise.reject(inTypedOptions(error, ['mode', 'configuration'])));
  if (!wait) return output.thing(begun, () => [...fieldsOf(begun), ...next(server, begun)]);
  const signal = abortOnSigint();
  // Printed immediately, because otherwise the replay could not be found if this command is interrupted.
  output.hint(`Replay ${begun.correlation_id}`);
  let ended: CorrelationStatusBody;
  try {
    ended = await untilEnded<CorrelationStatusBody>(
      server,
      idIn('/api/v1/correlations/{id}/status', begun.correlation_id),
      ({ state }) => state === 'active',
      signal,
    );
  } catch (error) {
    if (!signal.aborted) throw error;
    output.hint(`The replay continues. To see it: ${typedCommand(server.url, 'trace', begun.correlation_id)}`);
    process.exitCode = INTERRUPTED;
    return;
  }
  await output.thing(ended, () => [...fieldsOf(begun), ...endOf(ended), ...next(server, begun)]);
  process.exitCode = ended.state === 'completed' ? 0 : 1;
}

/** The route of what has this id. Throws a ClientError if nothing has it. */
async function pathOf(server: Server, id: string): Promise<string> {
  const { state } = await server.get<CorrelationStatusBody>(idIn('/api/v1/correlations/{id}/status', id));
  if (state !== 'not_found') return idIn('/api/v1/correlations/{id}/replay', id);
  if (await find(server, 'artifact', id)) return idIn('/api/v1/artifacts/{id}/replay', id);
  throw await unknown(server, id, ['correlation', 'artifact']);
}

const fieldsOf = ({ correlation_id, origin, mode, published }: ReplayBody): Field[] => [
  ['correlation', correlation_id],
  ['origin', origin],
  ['mode', mode],
  ['published', count(published)],
];

const endOf = ({ state, artifact_count, error_count, usage }: CorrelationStatusBody): Field[] => [
  ['state', state],
  ['artifacts', count(artifact_count)],
  ['errors', count(error_count)],
  ['tokens', usage ? count(usage.input_tokens + usage.output_tokens) : null],
  ['cost', usage?.cost ?? null],
];

const next = (server: Server, { origin, correlation_id }: ReplayBody): Field[] => [
  ['compare', typedCommand(server.url, 'compare', origin, correlation_id)],
];
