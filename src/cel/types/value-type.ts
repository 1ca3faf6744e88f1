import type { JsonValue } from '../../common/json.js';
import { listed } from '../../common/names-in-messages.js';

export type Kind =
  'null' | 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'list' | 'map' | 'time' | 'duration' | 'type';

/** The knowledge about a value before it exists. Unknown parts are absent, so that they refuse nothing. */
export interface ValueType {
  /** The kinds that the value may have; null if it may have any. */
  readonly kinds: ReadonlySet<Kind> | null;
  /** The value is one of these. */
  readonly values?: readonly JsonValue[];
  /** The elements, if the value is a list. */
  readonly items?: ValueType;
  /** The list never has more elements than this. */
  readonly mostItems?: number;
  /** The fields, if the value is a map. */
  readonly fields?: Fields;
  /** The results of a condition: each of them can occur. */
  readonly branches?: readonly ValueType[];
  /** The position in the source at which the expression that makes the value begins. */
  readonly origin?: number;
}

export interface Fields {
  find(name: string): Field;
  /** The names of the fields that are known. */
  readonly names: readonly string[];
  /** The names of the fields that every such map has. */
  readonly required: readonly string[];
  /** The advice for a field that cannot exist, for maps where the nearest name does not help. */
  readonly advice?: (name: string) => string | null;
}

/**
 * `absent`: no such map has the field. `undeclared`: some may have it, but no schema describes it, so the name is
 * probably a typing error if it is close to a known one. `unknown`: nothing can be said.
 */
export type Field = { type: ValueType } | 'absent' | 'undeclared' | 'unknown';

export const ANY: ValueType = { kinds: null };

/** The elements of an empty list. */
export const NOTHING: ValueType = { kinds: new Set() };

export const oneOf = (...kinds: Kind[]): ValueType => ({ kinds: new Set(kinds) });

export const listOf = (items: ValueType, mostItems?: number): ValueType => ({
  kinds: new Set<Kind>(['list']),
  items,
  ...(mostItems !== undefined && { mostItems }),
});

/** A map with exactly these fields. */
export function mapOf(fields: ReadonlyMap<string, ValueType>, advice?: Fields['advice']): ValueType {
  const names = [...fields.keys()];
  const find = (name: string): Field => {
    const type = fields.get(name);
    return type === undefined ? 'absent' : { type };
  };
  return { kinds: new Set<Kind>(['map']), fields: { find, names, required: names, ...(advice && { advice }) } };
}

/** A type remembers at most this many values and branches: a macro can double them each time it is repeated. */
const MOST_KNOWN = 200;

/** A value of any of these types. */
export function union(all: readonly ValueType[]): ValueType {
  const types = all.filter(({ kinds }) => kinds?.size !== 0);
  const [first] = types;
  if (first === undefined) return NOTHING;
  if (types.length === 1) return first;
  const kinds = types.some((type) => type.kinds === null) ? null : new Set(types.flatMap((type) => [...type.kinds!]));
  const lists = types.filter((type) => mayBe(type, 'list'));
  const maps = [...new Set(types.filter((type) => mayBe(type, 'map')).map((type) => type.fields))];
  const values = [...new Set(types.flatMap((type) => type.values ?? []))];
  let items: ValueType | undefined;
  return {
    kinds,
    ...(values.length <= MOST_KNOWN && types.every((type) => type.values) && { values }),
    ...(maps.length > 0 && maps.every((fields) => fields !== undefined) && { fields: eitherOf(maps) }),
    // Computed when it is read, because the lists of a recursive schema have no end; and once, because the lists of
    // nested conditions are made of the same ones.
    get items() {
      items ??= lists.length === 0 ? ANY : union(lists.map((type) => type.items ?? ANY));
      return items;
    },
  };
}

function eitherOf(maps: readonly Fields[]): Fields {
  const [first, ...others] = maps;
  // The maps of nested conditions are made of the same ones, so that each would be asked many times.
  const found = new Map<string, Field>();
  return {
    names: [...new Set(maps.flatMap(({ names }) => names))],
    required: first!.required.filter((name) => others.every(({ required }) => required.includes(name))),
    find: (name) => {
      const known = found.get(name) ?? eitherField(maps.map((fields) => fields.find(name)));
      found.set(name, known);
      return known;
    },
    ...(maps.length === 1 && first!.advice && { advice: first!.advice }),
  };
}

/** The field of a map that is one of several: the expression may read it only for those that have it. */
export function eitherField(found: readonly Field[]): Field {
  const present = found.filter((field) => field !== 'absent');
  if (present.length === 0) return 'absent';
  const types = present.flatMap((field) => (typeof field === 'string' ? [] : [field.type]));
  if (types.length === present.length) return { type: union(types) };
  if (types.length > 0) return { type: ANY };
  return present.includes('unknown') ? 'unknown' : 'undeclared';
}

/** Keeps the types as branches, each of which can occur, unless there are too many. */
export function asBranches(types: readonly ValueType[]): ValueType {
  const present = types.filter(({ kinds }) => kinds?.size !== 0);
  const together = union(present);
  const branches = present.flatMap((type) => type.branches ?? [type]);
  return present.length < 2 || branches.length > MOST_KNOWN ? together : { ...together, branches };
}

export const mayBe = ({ kinds }: ValueType, kind: Kind): boolean => kinds === null || kinds.has(kind);

/** True if the value has one of these kinds for certain. */
export const isOnly = ({ kinds }: ValueType, ...allowed: Kind[]): boolean =>
  kinds !== null && [...kinds].every((kind) => allowed.includes(kind));

const WORDS: Readonly<Record<Kind, string>> = {
  null: 'null',
  bool: 'true or false',
  int: 'an integer',
  uint: 'an unsigned integer',
  double: 'a number',
  string: 'a text',
  bytes: 'bytes',
  list: 'a list',
  map: 'an object',
  time: 'a time',
  duration: 'a duration',
  type: 'a type',
};

/** `a text`, or `a text or null`. */
export const inWords = (kinds: Iterable<Kind>): string =>
  listed([...new Set(Array.from(kinds, (kind) => WORDS[kind]))], 'or');
