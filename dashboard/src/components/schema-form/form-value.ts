import type { RJSFSchema } from '@rjsf/utils';

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const typesOf = ({ type }: RJSFSchema): unknown[] => [type].flat();

const fieldsOf = ({ properties = {} }: RJSFSchema): [name: string, field: RJSFSchema][] =>
  Object.entries(properties as Record<string, RJSFSchema>);

/** Returns the name of a value that is of another kind than its field, so that the form would lose it. */
export function misfit(schema: RJSFSchema, value: unknown, name = 'the payload'): string | undefined {
  if (value === undefined || value === null || 'oneOf' in schema) return undefined;
  if (typesOf(schema).includes('object')) {
    if (!isObject(value)) return name;
    return firstOf(fieldsOf(schema), ([key, field]) => misfit(field, value[key], key));
  }
  if (typesOf(schema).includes('array')) {
    if (!Array.isArray(value)) return name;
    return firstOf(value, (item) => misfit(schema.items as RJSFSchema, item, `an item of ${name}`));
  }
  return typeof value === 'object' ? name : undefined;
}

function firstOf<T>(list: readonly T[], find: (one: T) => string | undefined): string | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The fields of an alternative that can have only one value, and so distinguish it from the others. */
export const constantsOf = (schema: RJSFSchema): Fields =>
  Object.fromEntries(
    fieldsOf(schema).flatMap(([name, { const: only, enum: choices = [] }]) => {
      const value: unknown = only ?? (choices.length === 1 ? choices[0] : undefined);
      return value === undefined ? [] : [[name, value]];
    }),
  );

/**
 * Leaves out optional objects without a value. Writes required values without an alternative, and null if a required
 * value may be null.
 */
export function tidied(schema: RJSFSchema, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => tidied((schema.items ?? {}) as RJSFSchema, item));
  if (!isObject(value)) return value;
  const result: Fields = { ...value };
  for (const [name, field] of fieldsOf(schema)) {
    const isRequired = schema.required?.includes(name) ?? false;
    const inner = tidied(field, value[name]);
    if (inner === undefined && isRequired && field.const !== undefined) result[name] = field.const;
    else if (inner === undefined && isRequired && typesOf(field).includes('null')) result[name] = null;
    else if (inner === undefined || (!isRequired && isObject(inner) && isEmpty(inner))) delete result[name];
    else result[name] = inner;
  }
  return result;
}

const isEmpty = (value: Fields): boolean => Object.values(value).every((inner) => inner === undefined);
