import { Refused } from './client-errors.js';

/** The options of `batch run` that become fields of the request. */
const OPTION_OF: Record<string, string> = {
  agent_name: '--agent',
  max_workers: '--max-workers',
  row_key: '--row-key',
  static_inputs: '--static',
  input_mapping: '--map',
  delimiter: '--delimiter',
};

// A message names a field at its start; where several are wrong, `; ` parts them.
const FIELD = new RegExp(`(?<=^|; )(${Object.keys(OPTION_OF).join('|')})(?=[:.[])`, 'g');

/** What the server says of the fields of a request, said of the options that were typed. */
export function inTypedOptions(error: unknown): unknown {
  return error instanceof Refused ? new Refused(error.status, error.message.replace(FIELD, (field) => OPTION_OF[field]!)) : error;
}
