import fc from 'fast-check';

import type { JsonValue } from '../../src/common/json.js';

/** An own key `__proto__`, which an object literal cannot have. */
const withProto = JSON.parse('{"__proto__": {"type": "Reply"}, "a": 1}') as JsonValue;

const nested = (levels: number, inner: JsonValue = null): JsonValue =>
  levels === 0 ? inner : { a: [nested(levels - 1, inner)] };

/** Texts that are refused on some routes, or should be. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    '\udc00\ud800',
    '\ufeff',
    '\u2028',
    '\u202e',
    '🐦',
    'é',
    "' OR 1=1 --",
    '${x}',
    '../../etc/passwd',
  ),
  fc.constantFrom(
    'null',
    'true',
    '0',
    '-1',
    '1e999',
    'NaN',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'summary',
    'sync',
  ),
  fc.constantFrom(
    '2026-02-30',
    '2026-11-20',
    '9999-12-31T23:59:59Z',
    '0000-01-01',
    '+275760-09-13T00:00:00Z',
    'PT',
    'P1000000D',
    'PT0.0001S',
  ),
  fc.integer({ min: 250, max: 260 }).map((length) => 'x'.repeat(length)),
  fc.constantFrom(2_000, 70_000).map((length) => 'é'.repeat(length)),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.slice(0, -1)),
);

/** JSON values of the wrong type or beyond the bounds, for any place. */
export const oddValue: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue[]>(
    null,
    true,
    false,
    0,
    -1,
    0.1,
    1e308,
    -1e-308,
    2 ** 53,
    501,
    1_001,
    [],
    {},
    [[]],
    [null],
    [{}],
    withProto,
  ),
  fc.constantFrom<JsonValue[]>(
    { constructor: {} },
    { constructor: 'x' },
    { prototype: [] },
    { then: 1 },
    { toString: null, toJSON: 1 },
    { length: 1e9 },
  ),
  fc.constantFrom<JsonValue[]>(
    { kind: 'After' },
    { kind: 'After', ttl: 'PT0S', then: { kind: 'After', ttl: 'PT1H' } },
    { kind: 'Tenant', tenant_id: 1 },
  ),
  oddText,
  fc.jsonValue() as fc.Arbitrary<JsonValue>,
  fc.integer({ min: 28, max: 40 }).map((levels) => nested(levels)),
  fc.constantFrom(101, 1_001).map((length) => Array.from({ length }, (_, index) => `${index}`)),
);

/** The change to one place in a valid value. */
interface Edit {
  /** The index of the place, modulo the number of places. */
  place: number;
  how: 'replace' | 'remove' | 'add' | 'rename';
  key: string;
  value: JsonValue;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  place: fc.nat(),
  how: fc.constantFrom('replace', 'replace', 'remove', 'add', 'rename'),
  key: oddText,
  value: oddValue,
});

/** Returns the value unchanged, or changed in a few places. */
export const spoiled = (values: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> =>
  fc.oneof(
    values,
    fc
      .tuple(values, fc.array(edit, { minLength: 1, maxLength: 3 }))
      .map(([value, edits]) => edits.reduce(apply, value)),
  );

type Container = Record<string, JsonValue>;

function apply(value: JsonValue, { place, how, key, value: odd }: Edit): JsonValue {
  const root = { value: structuredClone(value) };
  const places = placesIn(root as unknown as Container);
  const [container, name] = places[place % places.length]!;
  const inner = container[name]!;
  if (how === 'replace' || container === (root as unknown as Container)) put(container, name, odd);
  else if (how === 'add') put(typeof inner === 'object' && inner !== null ? (inner as Container) : container, key, odd);
  else {
    delete container[name];
    if (how === 'rename') put(container, key, inner);
  }
  return root.value;
}

function placesIn(container: Container): [Container, string][] {
  return Object.entries(container).flatMap(([name, inner]) => {
    const here: [Container, string] = [container, name];
    return typeof inner === 'object' && inner !== null ? [here, ...placesIn(inner as Container)] : [here];
  });
}

/** An assignment would set the prototype if the key is `__proto__`. */
function put(container: Container | JsonValue[], key: string, value: JsonValue): void {
  if (Array.isArray(container) && !(key in container)) return void container.push(value);
  Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
}
