import type { ErrorObject } from 'ajv';

import { nearestName } from '../../common/names-in-messages.js';
import type { Path } from '../diagnostics.js';

/** A violation of a JSON Schema, with the path of the invalid value. */
export interface SchemaError {
  path: Path;
  message: string;
}

/** Words an error. Undefined: in the words of the library. */
export type Words = (error: ErrorObject) => string | undefined;

/** Turns Ajv's errors into messages for the author of `root`. Missing and unknown keys are part of the path. */
export function describeSchemaErrors(errors: readonly ErrorObject[], root: unknown, words?: Words): SchemaError[] {
  return (
    errors
      // `if` only repeats that its `then` failed, and `propertyNames` itself reports a bad property name.
      .filter((error) => error.keyword !== 'if' && error.propertyName === undefined)
      .map((error) => {
        const { below, message } = describe(error, words);
        return { path: [...pathFromPointer(error.instancePath, root), ...below], message };
      })
  );
}

/** Longer texts are not compared with the allowed values, because a payload may have any text. */
const LONGEST_COMPARED = 100;

type Description = { below: Path; message: string };

function describe(error: ErrorObject, words: Words = () => undefined): Description {
  const params = error.params as Record<string, string & number & unknown[]>;
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired':
    case 'dependencies':
      return { below: [params.missingProperty!], message: 'is required' };
    case 'additionalProperties':
      return { below: [params.additionalProperty!], message: unknownKey(error) };
    case 'unevaluatedProperties':
      return { below: [params.unevaluatedProperty!], message: 'is not allowed' };
    case 'propertyNames':
      return { below: [params.propertyName!], message: ownMessage(error.schema) ?? 'is not an allowed name' };
    case 'uniqueItems':
      return {
        below: [Math.max(params.i!, params.j!)],
        message: `is the same as item ${Math.min(params.i!, params.j!)}; keep one`,
      };
    case 'enum':
      return { below: [], message: `must be one of ${listValues(params.allowedValues!)}${meantValue(error)}` };
    case 'const':
      return { below: [], message: `must be ${listValues([params.allowedValue])}` };
    default:
      return {
        below: [],
        message: ownMessage(error.parentSchema) ?? words(error) ?? error.message ?? 'is not valid',
      };
  }
}

/** Whether a schema has its own message, such as "must be an object with either command or url". */
export const hasOwnMessage = (schema: unknown): boolean => ownMessage(schema) !== undefined;

/** The message with which a schema replaces the default one. */
function ownMessage(schema: unknown): string | undefined {
  const { errorMessage, objectMessage } = (schema ?? {}) as Record<string, unknown>;
  const message = errorMessage ?? objectMessage;
  return typeof message === 'string' ? message : undefined;
}

function meantValue({ data, params }: ErrorObject): string {
  const allowed = (params['allowedValues'] as unknown[]).filter((value) => typeof value === 'string');
  const meant = typeof data === 'string' && data.length < LONGEST_COMPARED ? nearestName(data, allowed) : undefined;
  return meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`;
}

/** The known key that an unknown one is probably meant to be. */
export function meantKey({ params, parentSchema }: ErrorObject): string | undefined {
  const known = Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {});
  return nearestName(params['additionalProperty'] as string, known);
}

function unknownKey(error: ErrorObject): string {
  const meant = meantKey(error);
  return meant === undefined ? 'is not a known key' : `is not a known key; did you mean ${meant}?`;
}

const listValues = (values: unknown[]): string =>
  values
    .slice(0, 20)
    .map((value) => JSON.stringify(value))
    .join(', ') + (values.length > 20 ? ', ...' : '');

function pathFromPointer(pointer: string, root: unknown): Path {
  let around = root;
  return pointer
    .split('/')
    .slice(1)
    .map((token) => {
      const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
      const segment = Array.isArray(around) ? Number(key) : key;
      around = (around as Record<string, unknown> | undefined)?.[key];
      return segment;
    });
}
