import { Refused } from './client-errors.js';

/**
 * Replaces the names of fields in the server's message by the options that the user typed. `options`: the option of
 * each field, where it is not the field's name.
 */
export function inTypedOptions(
  error: unknown,
  fields: readonly string[],
  options: Readonly<Record<string, string>> = {},
): unknown {
  if (!(error instanceof Refused)) return error;
  // A message begins with the name of a field. `; ` separates several.
  const names = new RegExp(`(?<=^|; )(${fields.join('|')})(?=[:.[])`, 'g');
  const optionOf = (field: string): string => options[field] ?? `--${field.replaceAll('_', '-')}`;
  const message = error.message
    .replace(names, optionOf)
    // The server's message about a time does not say what a time is.
    .replace(
      /^Invalid (\w+): (.*)$/,
      (_, field: string, given: string) =>
        `${optionOf(field)}: must be a time in ISO 8601, such as 2026-11-24 or 2026-11-24T09:30:00Z (got ${JSON.stringify(given)})`,
    );
  return new Refused(error.status, message);
}
