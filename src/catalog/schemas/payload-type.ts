import {
  ANY,
  eitherField,
  type Field,
  type Fields,
  type Kind,
  union,
  type ValueType,
} from '../../cel/types/value-type.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';

/** Returns the type that an expression may rely on in a payload of this schema. Null stands for any object. */
export function payloadType(schema: JsonObject | null): ValueType {
  if (schema === null) return { kinds: new Set<Kind>(['map']) };
  return { ...new SchemaTypes(schema).typeOf(schema), kinds: new Set<Kind>(['map']) };
}

/** A schema and everything that must hold for the same value, so that each of them is true of it. */
type Parts = readonly JsonObject[];

const KIND_OF_TYPE: Readonly<Record<string, Kind>> = {
  null: 'null',
  boolean: 'bool',
  number: 'double',
  integer: 'double',
  string: 'string',
  array: 'list',
  object: 'map',
};

class SchemaTypes {
  private readonly types = new Map<JsonObject, ValueType>();
  /** In a part with its own id, references start at that part. */
  private readonly hasIds: boolean;

  constructor(private readonly root: JsonObject) {
    this.hasIds = /"\$(id|anchor|dynamicAnchor)":/.test(JSON.stringify(root));
  }

  /** The properties are computed when they are read, because a schema may contain itself. */
  typeOf(schema: JsonValue | undefined): ValueType {
    if (!isJsonObject(schema)) return ANY;
    const known = this.types.get(schema);
    if (known) return known;
    const type = this.typeOfParts(this.partsOf(schema));
    this.types.set(schema, type);
    return type;
  }

  private typeOfParts(parts: Parts): ValueType {
    const values = parts.map(valuesIn).find((each) => each !== undefined);
    const itemsOf = (): ValueType => this.itemsOf(parts);
    return {
      kinds: this.kindsOf(parts),
      fields: this.fieldsOf(parts),
      ...(values && { values }),
      get items() {
        return itemsOf();
      },
    };
  }

  private fieldsOf(parts: Parts): Fields {
    const namesOf = (): string[] => this.namesIn(parts);
    return {
      find: (name) => this.fieldOf(parts, name),
      get names() {
        return namesOf();
      },
      required: parts
        .flatMap(({ required }) => (Array.isArray(required) ? required : []))
        .filter((name): name is string => typeof name === 'string' && !mayHaveDefault(parts, name)),
    };
  }

  /** The schema itself, what it refers to, and all of its `allOf`. */
  private partsOf(schema: JsonObject, seen = new Set<JsonObject>()): Parts {
    if (seen.has(schema)) return [];
    seen.add(schema);
    const target = this.target(schema.$ref);
    const same = [...(target ? [target] : []), ...schemasIn(schema.allOf)];
    return [schema, ...same.flatMap((part) => this.partsOf(part, seen))];
  }

  private target(reference: JsonValue | undefined): JsonObject | null {
    if (typeof reference !== 'string' || this.hasIds || !/^#(\/|$)/.test(reference)) return null;
    const found = reference
      .split('/')
      .slice(1)
      .map((token) => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<JsonValue | undefined>((around, key) => (around as JsonObject | undefined)?.[key], this.root);
    return isJsonObject(found) ? found : null;
  }

  private kindsOf(parts: Parts): ReadonlySet<Kind> | null {
    const limits = parts.flatMap((part) => [
      ...(part.type === undefined ? [] : [kindsNamed(part.type)]),
      ...(valuesIn(part) ? [new Set(valuesIn(part)!.map(kindOfValue))] : []),
      ...choices(part).map((branches) => union(branches.map((branch) => this.typeOf(branch))).kinds),
    ]);
    const kinds = limits.reduce(
      (one, other) => (one && other ? new Set([...one].filter((kind) => other.has(kind))) : (one ?? other)),
      null,
    );
    // No payload fits such a schema, so it says nothing about an expression.
    return kinds?.size === 0 ? null : kinds;
  }

  private itemsOf(parts: Parts): ValueType {
    const part = parts.find(({ items }) => isJsonObject(items));
    return part && !part.prefixItems ? this.typeOf(part.items) : ANY;
  }

  private fieldOf(parts: Parts, name: string): Field {
    const found = parts.map((part) => this.ownField(part, name));
    if (found.includes('absent')) return 'absent';
    const types = found.flatMap((field) => (typeof field === 'object' ? [field.type] : []));
    if (types.length > 0) return { type: types.find(({ kinds }) => kinds !== null) ?? types[0]! };
    if (found.includes('unknown')) return 'unknown';
    return parts.some((part) => part.unevaluatedProperties === false) ? 'absent' : 'undeclared';
  }

  private ownField(part: JsonObject, name: string): Field {
    const chosen = this.chosenField(part, name);
    if (chosen === 'absent') return 'absent';
    const { properties, additionalProperties: others } = part;
    const own = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own === false) return 'absent';
    if (own !== undefined) return { type: this.typeOf(own) };
    if (isJsonObject(part.patternProperties) || isJsonObject(part.unevaluatedProperties)) return 'unknown';
    if (others === false) return 'absent';
    // A map from names that the schema does not know.
    if (isJsonObject(others)) return { type: this.typeOf(others) };
    return chosen;
  }

  /** Returns the type of the field by `anyOf` and its like. */
  private chosenField(part: JsonObject, name: string): Field {
    const found = choices(part).map((branches) =>
      eitherField(
        branches.map((branch) => (isJsonObject(branch) ? this.fieldOf(this.partsOf(branch), name) : 'unknown')),
      ),
    );
    if (found.includes('absent')) return 'absent';
    const conditional = conditionalSchemas(part).map((schema) => this.fieldOf(this.partsOf(schema), name));
    const declared = found.find((field) => typeof field === 'object');
    if (declared) return declared;
    // A condition says only for some values what the field is.
    return conditional.some((field) => field !== 'undeclared') || found.includes('unknown') ? 'unknown' : 'undeclared';
  }

  private namesIn(parts: Parts): string[] {
    const below = parts.flatMap((part) => [...choices(part).flat().filter(isJsonObject), ...conditionalSchemas(part)]);
    const own = parts.flatMap(({ properties }) => (isJsonObject(properties) ? Object.keys(properties) : []));
    return [...new Set([...own, ...below.flatMap((schema) => this.namesIn(this.partsOf(schema)))])];
  }
}

/** A default fills in what is missing. */
const mayHaveDefault = (parts: Parts, name: string): boolean =>
  parts.some(({ properties }) => {
    const property = isJsonObject(properties) ? properties[name] : undefined;
    return isJsonObject(property) && (property.default !== undefined || property.$ref !== undefined);
  });

/** The groups of schemas of which one must fit. */
const choices = (part: JsonObject): JsonValue[][] =>
  [part.anyOf, part.oneOf].filter((branches): branches is JsonValue[] => Array.isArray(branches));

/** Schemas that hold for some values only. */
const conditionalSchemas = (part: JsonObject): JsonObject[] => [
  ...[part.then, part.else].filter(isJsonObject),
  ...[part.dependentSchemas, part.dependencies]
    .filter(isJsonObject)
    .flatMap((named) => Object.values(named).filter(isJsonObject)),
];

const schemasIn = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

function kindsNamed(type: JsonValue): ReadonlySet<Kind> | null {
  const kinds = (Array.isArray(type) ? type : [type]).map((name) => KIND_OF_TYPE[String(name)]);
  return kinds.includes(undefined) ? null : new Set(kinds as Kind[]);
}

function valuesIn({ enum: values, const: value }: JsonObject): JsonValue[] | undefined {
  return value !== undefined ? [value] : Array.isArray(values) ? values : undefined;
}

function kindOfValue(value: JsonValue): Kind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return KIND_OF_TYPE[typeof value]!;
}
