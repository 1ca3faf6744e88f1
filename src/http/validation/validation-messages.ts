import type { ValidationError } from 'class-validator';

/** What is wrong with every bad field, such as `timeout: must not be greater than 300`. */
export const describeErrors = (errors: ValidationError[]): string[] => errors.flatMap((error) => describe(error, ''));

function describe(error: ValidationError, parent: string): string[] {
  const path = parent ? `${parent}.${error.property}` : error.property;
  const own = error.constraints ? [sentence(path, error.property, foremost(error.constraints))] : [];
  return [...own, ...(error.children ?? []).flatMap((child) => describe(child, path))];
}

/**
 * A value of the wrong type breaks every other rule too; only the rule on its type (`isString`) helps the caller. So does one
 * that is no list break the rules on each value of a list.
 */
function foremost(constraints: Record<string, string>): string {
  const onType = Object.entries(constraints).filter(([rule]) => rule.startsWith('is')).map(([, message]) => message);
  return onType.find((message) => !message.startsWith('each value ')) ?? onType[0] ?? Object.values(constraints)[0]!;
}

/** class-validator begins its messages with the field's name, which stands before the colon already. */
function sentence(path: string, property: string, message: string): string {
  const named = message.replace(`each value in ${property} `, 'each value ');
  const rule = named.startsWith(`${property} `) ? named.slice(property.length + 1) : named;
  // A message of our own that begins with a capital is a whole sentence, such as `Invalid from: yesterday`.
  return /^[A-Z]/.test(rule) ? rule : `${path}: ${rule.replace(' conforming to the specified constraints', '')}`;
}
