import { Refused } from './client-errors.js';

/** The option of `batch run` for each field of the request. */
const OPTION_OF: Record<string, string> = {
  agent_name: '--agent',
  max_workers: '--max-workers',
  row_key: '--row-key',
  static_inputs: '--static',
  input_mapping: '--map',
  delimiter: '--delimiter',
};

// A message begins with the name of a field. `; ` separates several.
const FIELD = new RegExp(`(?<=^|; )(${Object.keys(OPTION_OF).join('|')})(?=[:.[])`, 'g');

/** Replaces the names of fields in the server's message by the options that the user typed. */
export function inTypedOptions(error: unknown): unknown {
  return error instanceof Refused
    ? new Refused(
        error.status,
        error.message.replace(FIELD, (field) => OPTION_OF[field]!),
      )
    : error;
}
