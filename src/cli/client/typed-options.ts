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
    // The server's message about a time begins with another word.
    .replace(
      /^Invalid (\w+): (.*); (give a time .*)$/s,
      (_, field: string, given: string, rule: string) =>
        `${optionOf(field)}: is not a time; ${rule} (got ${JSON.stringify(given)})`,
    );
  return new Refused(error.status, message);
}
