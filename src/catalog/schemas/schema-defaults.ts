import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';
import type { GrowthLimit } from '../growth-limit.js';
import type { SchemaLookup } from './payload-schema.js';

/** Defaults inside defaults, on so many levels, count as endless. */
const MOST_LEVELS = 64;

/** `value` is the same object if nothing was filled in. `problem` continues the path of the value. */
export type Filled<Value> = { value: Value } | { problem: string };

class DefaultsError extends Error {}

/** A `default` in `properties`. */
export interface PropertyDefault {
  key: string;
  value: JsonValue;
  /** Size of `"key":value` in JSON. */
  bytes: number;
  /** The schema with the `default`. */
  schema: JsonObject;
  part: Part;
}

/** A schema inside the schema of a type, and the schemas that it applies to its value and to the values in it. */
interface Part {
  defaults: PropertyDefault[];
  properties: Map<string, Part>;
  patterns: { pattern: { test(text: string): boolean }; part: Part }[];
  additional: Part | null;
  firstItems: Part[];
  items: Part | null;
  /** From `$ref` and `allOf`. */
  sameValue: Part[];
  /** The parts that apply to the same value, including this one. Only those with a default in them. */
  all: Part[];
}

/**
 * Fills the `default`s of a schema into payloads: for properties that are absent, through `properties`,
 * `patternProperties`, `additionalProperties`, `items`, `prefixItems`, `allOf` and `$ref`. Which branch of an `anyOf`,
 * `oneOf` or `if` applies is known only after the validation, so their defaults are not filled in.
 *
 * Ajv's `useDefaults` changes the caller's payload, regards inherited names such as `constructor` as present, and has
 * no limit for what it adds.
 */
export class SchemaDefaults {
  private readonly parts = new Map<unknown, Part>();
  private readonly root: Part;

  constructor(
    schema: JsonObject,
    private readonly lookup: SchemaLookup,
  ) {
    this.root = this.partOf(schema);
    const useful = this.partsWithDefaults();
    for (const part of this.parts.values()) leaveOnly(useful, part);
  }

  /** All defaults that can be filled in. */
  get list(): PropertyDefault[] {
    return [...this.parts.values()].flatMap(({ defaults }) => defaults);
  }

  /** Copies what changes, and never changes `payload`. Nothing is copied beyond the limit. */
  fill(payload: JsonObject, limit: GrowthLimit): Filled<JsonObject> {
    return caught(() => new Filling(payload, limit).object(this.root.all, payload, 0));
  }

  /** Returns the value of a default with the defaults inside it. */
  complete({ value, part }: PropertyDefault, limit: GrowthLimit): Filled<JsonValue> {
    return caught(() => new Filling(value, limit).value(part.all, value, 1));
  }

  private partOf(schema: unknown): Part {
    const known = this.parts.get(schema);
    if (known) return known;
    const part = emptyPart();
    this.parts.set(schema, part);
    if (!isJsonObject(schema)) return part;
    this.addPropertiesTo(part, schema);
    this.addItemsTo(part, schema);
    if (typeof schema.$ref === 'string') part.sameValue.push(this.partOf(this.lookup.target(schema)));
    part.sameValue.push(...this.partsOf(schema.allOf));
    return part;
  }

  private addPropertiesTo(part: Part, { properties, patternProperties, additionalProperties }: JsonObject): void {
    for (const [key, schema] of entriesOf(properties)) {
      const below = this.partOf(schema);
      part.properties.set(key, below);
      if (!isJsonObject(schema) || !Object.hasOwn(schema, 'default')) continue;
      const text = JSON.stringify(schema.default);
      const bytes = Buffer.byteLength(`${JSON.stringify(key)}:${text}`);
      // YAML has numbers that JSON does not, such as `.inf`.
      part.defaults.push({ key, value: JSON.parse(text) as JsonValue, bytes, schema, part: below });
    }
    for (const [source, schema] of entriesOf(patternProperties))
      part.patterns.push({ pattern: this.lookup.pattern(source), part: this.partOf(schema) });
    if (isJsonObject(additionalProperties)) part.additional = this.partOf(additionalProperties);
  }

  /** A list in `items` is draft-07's name of `prefixItems`, and `additionalItems` then that of `items`. */
  private addItemsTo(part: Part, { items, prefixItems, additionalItems }: JsonObject): void {
    part.firstItems.push(...this.partsOf(Array.isArray(items) ? items : prefixItems));
    const others = Array.isArray(items) ? additionalItems : items;
    if (isJsonObject(others)) part.items = this.partOf(others);
  }

  private partsOf(schemas: JsonValue | undefined): Part[] {
    return Array.isArray(schemas) ? schemas.map((schema) => this.partOf(schema)) : [];
  }

  /** Parts are made before those inside them, so the reverse order finds most of them in the first round. */
  private partsWithDefaults(): Set<Part> {
    const found = new Set<Part>();
    const order = [...this.parts.values()].reverse();
    let before: number;
    do {
      before = found.size;
      for (const part of order) {
        if (part.defaults.length > 0 || partsIn(part).some((one) => found.has(one))) found.add(part);
      }
    } while (found.size > before);
    return found;
  }
}

function caught<Value>(fill: () => Value): Filled<Value> {
  try {
    return { value: fill() };
  } catch (error) {
    if (error instanceof DefaultsError) return { problem: error.message };
    throw error;
  }
}

/** Fills the defaults of one payload. Its methods throw DefaultsError. */
class Filling {
  private room: number | undefined;

  constructor(
    private readonly payload: JsonValue,
    private readonly limit: GrowthLimit,
  ) {}

  /** `parts`: all parts that apply to the value. `level`: in how many defaults the value is. */
  value(parts: readonly Part[], value: JsonValue, level: number): JsonValue {
    if (parts.length === 0 || typeof value !== 'object' || value === null) return value;
    return Array.isArray(value) ? this.array(parts, value, level) : this.object(parts, value, level);
  }

  object(parts: readonly Part[], object: JsonObject, level: number): JsonObject {
    const own = this.withOwnDefaults(parts, object, level);
    let filled = own;
    for (const key of keysToVisit(parts, own)) {
      const isDefault = own !== object && !Object.hasOwn(object, key);
      const below = united(parts.flatMap((part) => partsAt(part, key)));
      const value = this.value(below, own[key]!, isDefault ? level + 1 : level);
      if (value === own[key]) continue;
      if (filled === object) filled = { ...object };
      filled[key] = value;
    }
    return filled;
  }

  /** Fills in the defaults of the object's own properties. */
  private withOwnDefaults(parts: readonly Part[], object: JsonObject, level: number): JsonObject {
    let filled = object;
    for (const { defaults } of parts) {
      for (const { key, value, bytes } of defaults) {
        if (Object.hasOwn(filled, key)) continue;
        const hasComma = filled !== object || !isEmpty(object);
        this.count(bytes + Number(hasComma), level);
        // The copy has own fields only, and `__proto__` like any other. A schema cannot add this name.
        if (filled === object) filled = { ...object };
        filled[key] = value;
      }
    }
    return filled;
  }

  private array(parts: readonly Part[], list: JsonValue[], level: number): JsonValue[] {
    const others = united(parts.flatMap(({ items }) => items ?? []));
    const first = Math.max(...parts.map(({ firstItems }) => firstItems.length));
    const end = others.length === 0 ? Math.min(first, list.length) : list.length;
    let filled = list;
    for (let at = 0; at < end; at++) {
      const here =
        at < first ? united(parts.flatMap(({ firstItems, items }) => firstItems[at] ?? items ?? [])) : others;
      const next = this.value(here, list[at]!, level);
      if (next === list[at]) continue;
      if (filled === list) filled = [...list];
      filled[at] = next;
    }
    return filled;
  }

  private count(bytes: number, level: number): void {
    if (level > MOST_LEVELS) throw new DefaultsError('the defaults inside it never end');
    this.room ??= this.limit.roomBeside(Buffer.byteLength(JSON.stringify(this.payload)));
    this.room -= bytes;
    this.limit.use(bytes);
    if (this.room < 0) throw new DefaultsError('the defaults inside it add more bytes than body_limit allows');
  }
}

const emptyPart = (): Part => ({
  defaults: [],
  properties: new Map(),
  patterns: [],
  additional: null,
  firstItems: [],
  items: null,
  sameValue: [],
  all: [],
});

const partsIn = ({ properties, patterns, additional, firstItems, items, sameValue }: Part): Part[] => [
  ...properties.values(),
  ...patterns.map(({ part }) => part),
  ...(additional ? [additional] : []),
  ...firstItems,
  ...(items ? [items] : []),
  ...sameValue,
];

/** Own defaults come before those of `$ref`, and these before those of `allOf`. */
function sameValueParts(part: Part, seen = new Set<Part>()): Set<Part> {
  if (!seen.has(part)) {
    seen.add(part);
    for (const one of part.sameValue) sameValueParts(one, seen);
  }
  return seen;
}

/** Removes what a walk over payloads need not visit, because no default is in it. */
function leaveOnly(useful: ReadonlySet<Part>, part: Part): void {
  part.all = [...sameValueParts(part)].filter((one) => useful.has(one));
  if (part.additional && !useful.has(part.additional)) part.additional = null;
  // Names and patterns without a default still say to which keys `additional` does not apply.
  if (part.additional) return;
  part.properties = new Map([...part.properties].filter(([, below]) => useful.has(below)));
  part.patterns = part.patterns.filter((one) => useful.has(one.part));
}

/** The parts that apply to the value under `key` of an object. */
function partsAt({ properties, patterns, additional }: Part, key: string): Part[] {
  const own = properties.get(key);
  const found = [...(own ? [own] : []), ...patterns.filter(({ pattern }) => pattern.test(key)).map(({ part }) => part)];
  return found.length === 0 && additional ? [additional] : found;
}

/** Returns each part once. Otherwise a schema that refers to itself twice would double the work on each level. */
const united = (parts: readonly Part[]): readonly Part[] =>
  parts.length === 1 ? parts[0]!.all : [...new Set(parts.flatMap(({ all }) => all))];

/** Lists all keys of the object only if the schema has parts for any key, because a payload may have many. */
function keysToVisit(parts: readonly Part[], object: JsonObject): string[] {
  if (parts.some(({ patterns, additional }) => additional || patterns.length > 0)) return Object.keys(object);
  const named = new Set(parts.flatMap(({ properties }) => [...properties.keys()]));
  return [...named].filter((key) => Object.hasOwn(object, key));
}

const entriesOf = (schemas: JsonValue | undefined): [string, JsonValue][] =>
  isJsonObject(schemas) ? Object.entries(schemas) : [];

function isEmpty(object: JsonObject): boolean {
  for (const key in object) if (Object.hasOwn(object, key)) return false;
  return true;
}
