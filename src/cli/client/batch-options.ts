import type { JsonObject } from '../../common/json.js';
import { numberOf, readJsonArgument } from './argument-values.js';
import { ClientError } from './client-errors.js';
import { inTypedOptions } from './typed-options.js';

export interface BatchRequestOptions {
  agent: string;
  maxWorkers?: string;
  rowKey?: string;
  static?: string;
  map?: string[];
  delimiter?: string;
}

/**
 * The request that accompanies an uploaded file. Throws a ClientError if an option cannot be parsed; the server checks
 * the values.
 */
export async function batchRequest({
  agent,
  maxWorkers,
  rowKey,
  static: inputs,
  map,
  delimiter,
}: BatchRequestOptions): Promise<JsonObject> {
  return {
    agent_name: agent,
    ...(maxWorkers !== undefined && { max_workers: numberOf('--max-workers', maxWorkers) }),
    ...(rowKey !== undefined && { row_key: rowKey }),
    ...(inputs !== undefined && { static_inputs: await readJsonArgument('--static', inputs) }),
    ...(map && { input_mapping: Object.fromEntries(map.map(mapping)) }),
    // A tab is hard to type in a shell.
    ...(delimiter !== undefined && { delimiter: delimiter === '\\t' ? '\t' : delimiter }),
  };
}

/** Splits at the last `=`, because a column's name may contain one. */
function mapping(given: string): [string, string] {
  const at = given.lastIndexOf('=');
  if (at < 1 || at === given.length - 1)
    throw new ClientError(`--map: must be <column>=<input> (got ${JSON.stringify(given)})`);
  return [given.slice(0, at), given.slice(at + 1)];
}

/** The option of `batch run` for each field of the request. */
const OPTION_OF: Record<string, string> = {
  agent_name: '--agent',
  max_workers: '--max-workers',
  row_key: '--row-key',
  static_inputs: '--static',
  input_mapping: '--map',
  delimiter: '--delimiter',
};

/** Replaces the names of fields in the server's message by the options that the user typed. */
export const inBatchOptions = (error: unknown): unknown => inTypedOptions(error, Object.keys(OPTION_OF), OPTION_OF);
