import type { JsonObject } from '../../common/json.js';
import { ClientError } from './client-errors.js';
import { readJsonArgument } from './json-argument.js';
import { numberOf } from './number-option.js';

export interface BatchRequestOptions {
  agent: string;
  maxWorkers?: string;
  rowKey?: string;
  static?: string;
  map?: string[];
  delimiter?: string;
}

/** What goes with an uploaded file. ClientError where an option cannot be read; what it says is the server's to check. */
export async function batchRequest({ agent, maxWorkers, rowKey, static: inputs, map, delimiter }: BatchRequestOptions): Promise<JsonObject> {
  return {
    agent_name: agent,
    ...(maxWorkers !== undefined && { max_workers: numberOf('--max-workers', maxWorkers) }),
    ...(rowKey !== undefined && { row_key: rowKey }),
    ...(inputs !== undefined && { static_inputs: await readJsonArgument('--static', inputs) }),
    ...(map && { input_mapping: Object.fromEntries(map.map(mapping)) }),
    // A shell makes a tab hard to type.
    ...(delimiter !== undefined && { delimiter: delimiter === '\\t' ? '\t' : delimiter }),
  };
}

/** Parted at the last `=`, since a column's name is whatever stands in the file. */
function mapping(given: string): [string, string] {
  const at = given.lastIndexOf('=');
  if (at < 1 || at === given.length - 1) throw new ClientError(`--map: must be <column>=<input> (got ${JSON.stringify(given)})`);
  return [given.slice(0, at), given.slice(at + 1)];
}
