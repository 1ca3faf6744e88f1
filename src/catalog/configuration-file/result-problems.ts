import { ANY, inWords, isOnly, type Kind, type ValueType } from '../../cel/types/value-type.js';
import type { JsonValue } from '../../common/json.js';
import { listed, nearestName } from '../../common/names-in-messages.js';
import { formatPath, type Path } from '../diagnostics.js';

/** A part of a result that what it is for forbids. `origin` is the position in the source at which the expression that makes it begins. */
export interface ResultProblem {
  message: string;
  origin: number | undefined;
}

const DEEPEST = 8;

/**
 * Finds parts of a result that `expected` forbids for every input. `name` is what takes the result. Values that only
 * may be wrong are left to the check at run time.
 */
export function resultProblems(given: ValueType, expected: ValueType, name: string, path: Path = []): ResultProblem[] {
  if (given.branches) return given.branches.flatMap((branch) => resultProblems(branch, expected, name, path));
  if (given.kinds === null || given.kinds.size === 0 || path.length > DEEPEST) return [];
  const place = path.length === 0 ? `the payload of ${name}` : `${formatPath(path)} of ${name}`;
  const problem = (message: string): ResultProblem[] => [{ message, origin: given.origin }];
  if (expected.kinds && !asJson(given.kinds).some((kind) => expected.kinds!.has(kind)))
    return problem(`gives ${inWords(given.kinds)} as ${place}, which must be ${inWords(expected.kinds)}`);
  const { values } = given;
  if (values && expected.values && !values.some((value) => includes(expected.values!, value)))
    return problem(`gives ${text(values[0]!)} as ${place}, ${allowedValues(values[0]!, expected.values)}`);
  if (isOnly(given, 'list') && given.items && expected.items)
    return resultProblems(given.items, expected.items, name, [...path, 0]);
  return isOnly(given, 'map') ? fieldProblems(given, expected, name, path) : [];
}

function fieldProblems(given: ValueType, { fields: wanted }: ValueType, name: string, path: Path): ResultProblem[] {
  const { fields, origin } = given;
  if (!fields || !wanted) return [];
  const within = path.length === 0 ? name : `${formatPath(path)} of ${name}`;
  const certain = fields.required.flatMap((field) => {
    const own = fields.find(field);
    const type = typeof own === 'object' ? own.type : ANY;
    const into = wanted.find(field);
    if (into === 'absent')
      return [{ message: unknownField(field, within, wanted.names), origin: type.origin ?? origin }];
    return typeof into === 'object' ? resultProblems(type, into.type, name, [...path, field]) : [];
  });
  const missing = wanted.required.filter((field) => fields.find(field) === 'absent');
  // A misspelled field is also missing under its right name.
  if (certain.length > 0 || missing.length === 0) return certain;
  return [{ message: `gives ${within} without ${listed(missing, 'and')}, which its schema requires`, origin }];
}

function unknownField(field: string, within: string, names: readonly string[]): string {
  const nearest = nearestName(field, names);
  const help = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  return `gives ${within} the field ${field}, which its schema does not allow${help}`;
}

/** The kinds after conversion to JSON. A type has no JSON form. */
const asJson = (kinds: ReadonlySet<Kind>): Kind[] => Array.from(kinds, (kind) => JSON_KINDS[kind] ?? kind);

const JSON_KINDS: Partial<Record<Kind, Kind>> = {
  int: 'double',
  uint: 'double',
  bytes: 'string',
  time: 'string',
  duration: 'string',
};

const text = (value: JsonValue): string => JSON.stringify(value);

const includes = (values: readonly JsonValue[], value: JsonValue): boolean =>
  values.some((each) => text(each) === text(value));

function allowedValues(value: JsonValue, allowed: readonly JsonValue[]): string {
  const texts = allowed.filter((each) => typeof each === 'string');
  const nearest = typeof value === 'string' ? nearestName(value, texts) : undefined;
  if (nearest !== undefined) return `which its schema does not allow; did you mean ${text(nearest)}?`;
  return `which must be ${listed(allowed.map(text), 'or')}`;
}
