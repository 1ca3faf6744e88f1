import type { ValidationError } from 'class-validator';

/** One message for each bad field, such as `timeout: must not be greater than 300`. */
export const describeErrors = (errors: ValidationError[]): string[] => errors.flatMap((error) => describe(error, ''));

function describe(error: ValidationError, parent: string): string[] {
  const path = parent ? `${parent}.${error.property}` : error.property;
  const own = error.constraints ? [sentence(path, error.property, foremost(error.constraints))] : [];
  return [...own, ...(error.children ?? []).flatMap((child) => describe(child, path))];
}

/**
 * A value of the wrong type breaks all rules of its field, but only the rule about the type (`isString`) helps the
 * caller. In the same way, a value that is not a list breaks the rules about each value of a list.
 */
function foremost(constraints: Record<string, string>): string {
  const onType = Object.entries(constraints)
    .filter(([rule]) => rule.startsWith('is'))
    .map(([, message]) => message);
  return onType.find((message) => !message.startsWith('each value ')) ?? onType[0] ?? Object.values(constraints)[0]!;
}

/** Removes the field's name from the beginning of class-validator's message, because it is already before the colon. */
function sentence(path: string, property: string, message: string): string {
  const named = message.replace(`each value in ${property} `, 'each value ');
  const rule = named.startsWith(`${property} `) ? named.slice(property.length + 1) : named;
  // A message of this service that begins with a capital letter is a complete sentence, such as `Invalid from:
  // yesterday`.
  return /^[A-Z]/.test(rule) ? rule : `${path}: ${rule.replace(' conforming to the specified constraints', '')}`;
}
