import type { RJSFSchema } from '@rjsf/utils';

import { isSchema, referenced, type Schema } from '../../json-example';
import { constantsOf } from './form-value';

/** Above these, a form is harder to use than JSON. */
const MOST_LEVELS = 8;
const MOST_FIELDS = 150;
const MOST_CHOICES = 500;
const LONGEST_TITLE = 200;
const LONGEST_DESCRIPTION = 500;

/** The schema of a form, or a sentence that says why there is none. */
export type FormPlan = { schema: RJSFSchema; why?: undefined } | { schema?: undefined; why: string };

/**
 * Returns what a form shows of a type's schema: its fields, without references. Rules such as `minLength` are left out,
 * since the service checks the value. Limits keep a schema that is huge or refers to itself from making a huge form.
 */
export function planForm(schema: Schema | null): FormPlan {
  if (schema === null) return { why: 'The type has no schema, so any JSON object fits.' };
  try {
    return { schema: new Planning(schema).copy(schema, { name: 'it', level: 0, references: [] }) };
  } catch (error) {
    if (error instanceof NoForm) return { why: `A form cannot show this schema: ${error.message}.` };
    throw error;
  }
}

class NoForm extends Error {}

interface Place {
  /** How messages call it. */
  name: string;
  level: number;
  /** The references that led here. */
  references: readonly string[];
}

/** Keywords on which the fields themselves depend. */
const UNSHOWN = ['if', 'dependentSchemas', 'dependencies', 'patternProperties', 'prefixItems', '$dynamicRef'];

/** Alternatives of only these keywords are rules, not fields. */
const RULES = ['required', 'not', 'title', 'description'];

/** Formats for which there is an input. */
const FORMATS = ['date', 'email', 'uri'];

class Planning {
  private fields = 0;

  constructor(private readonly root: Schema) {}

  copy(part: unknown, place: Place): RJSFSchema {
    const { name, level } = place;
    this.fields += 1;
    if (this.fields > MOST_FIELDS) throw new NoForm(`it has more than ${MOST_FIELDS} fields`);
    if (level > MOST_LEVELS) throw new NoForm(`it nests more than ${MOST_LEVELS} levels`);
    if (!isSchema(part)) throw new NoForm(`${name} may be any value`);
    const { $ref: reference, allOf, ...own } = part;
    if (reference !== undefined) return this.copyReferenced(String(reference), { allOf, ...own }, place);
    if (Array.isArray(allOf)) {
      const [only, ...others] = allOf as unknown[];
      if (others.length > 0 || !isSchema(only)) throw new NoForm(`${name} combines several schemas with allOf`);
      return this.copy({ ...only, ...own }, { ...place, level: level + 1 });
    }
    const unshown = UNSHOWN.find((keyword) => keyword in own);
    if (unshown !== undefined) throw new NoForm(`${name} uses ${unshown}`);
    return { ...wordsOf(own), ...this.copyOwn(own, place) };
  }

  private copyReferenced(reference: string, own: Schema, place: Place): RJSFSchema {
    if (place.references.includes(reference)) throw new NoForm('it refers to itself');
    const target = referenced(reference, this.root);
    if (target === undefined) throw new NoForm(`${reference} is not a part of it`);
    const references = [...place.references, reference];
    const { allOf = target['allOf'], ...others } = own;
    return this.copy({ ...target, ...others, ...(allOf !== undefined && { allOf }) }, { ...place, references });
  }

  private copyOwn(node: Schema, place: Place): RJSFSchema {
    if (node['const'] !== undefined) return { const: plain([node['const']], place)[0]! };
    if (Array.isArray(node['enum'])) return { type: 'string', enum: plain(node['enum'], place) };
    const alternatives = [node['oneOf'], node['anyOf']].find(Array.isArray) as unknown[] | undefined;
    if (alternatives !== undefined && !alternatives.every(isRule))
      return this.copyAlternatives(node, alternatives, place);
    const { type, isNullable } = typeOf(node);
    const types = (
      one: 'object' | 'array' | 'string' | 'boolean' | 'number' | 'integer',
    ): Pick<RJSFSchema, 'type'> => ({
      type: isNullable ? [one, 'null'] : one,
    });
    switch (type) {
      case 'object':
        return { ...types(type), ...this.copyObject(node, place) };
      case 'array':
        return { ...types(type), ...this.copyArray(node, place) };
      case 'string': {
        const { format, maxLength } = node;
        return {
          ...types(type),
          ...(FORMATS.includes(String(format)) && { format: String(format) }),
          ...(typeof maxLength === 'number' && { maxLength }),
        };
      }
      case 'boolean':
      case 'number':
      case 'integer':
        return types(type);
      case 'null':
        return { type };
      default:
        throw new NoForm(`${place.name} may be any value`);
    }
  }

  private copyObject(node: Schema, { name, level, references }: Place): RJSFSchema {
    const properties = Object.entries(isSchema(node['properties']) ? node['properties'] : {});
    const required = Array.isArray(node['required']) ? node['required'].map(String) : [];
    if (isSchema(node['additionalProperties']) || properties.length === 0)
      throw new NoForm(`${name} may have fields of any name`);
    const inner = properties.map(([key, property]) => {
      // The form keeps what it knows of a field under such names.
      if (key.startsWith('__')) throw new NoForm(`a form has no fields with names such as ${key}`);
      const copy = this.copy(property, { name: level === 0 ? key : `${name}.${key}`, level: level + 1, references });
      return [key, required.includes(key) ? copy : asChoice(copy)];
    });
    return { properties: Object.fromEntries(inner) as RJSFSchema['properties'], required };
  }

  private copyArray(node: Schema, { name, level, references }: Place): RJSFSchema {
    const items = this.copy(node['items'], { name: `${name}[]`, level: level + 1, references });
    return { items, ...(node['uniqueItems'] === true && 'enum' in items && { uniqueItems: true }) };
  }

  private copyAlternatives(node: Schema, alternatives: unknown[], place: Place): RJSFSchema {
    if ('properties' in node) throw new NoForm(`${place.name} combines fields with alternatives`);
    if (alternatives.length > MOST_CHOICES) throw new NoForm(`${place.name} has more than ${MOST_CHOICES} choices`);
    const copies = alternatives.map((one) =>
      this.copy(isSchema(one) ? { ...('type' in node && { type: node['type'] }), ...one } : one, {
        ...place,
        level: place.level + 1,
      }),
    );
    const others = copies.filter(({ type }) => type !== 'null');
    const isNullable = others.length < copies.length;
    // Left empty, a field is null or absent, which needs no choice.
    if (others.length === 1) return withNull(others[0]!, isNullable);
    if (others.every((one) => 'const' in one)) {
      const named = others.map((one) => ({ const: one.const, title: one.title ?? String(one.const) }));
      return { type: 'string', oneOf: named };
    }
    return { oneOf: copies.map((one, index) => ({ ...one, title: titleOf(one, index) })) };
  }
}

function withNull(schema: RJSFSchema, isNullable: boolean): RJSFSchema {
  return isNullable && typeof schema.type === 'string' && !('oneOf' in schema)
    ? { ...schema, type: [schema.type, 'null'] }
    : schema;
}

/** A value without an alternative that need not be there is one choice, so that it can be taken or left. */
const asChoice = ({ const: only, ...schema }: RJSFSchema): RJSFSchema =>
  only === undefined ? schema : { ...schema, type: 'string', enum: [only] };

const isRule = (alternative: unknown): boolean =>
  isSchema(alternative) && Object.keys(alternative).every((key) => RULES.includes(key));

function typeOf(node: Schema): { type: unknown; isNullable: boolean } {
  const types = [node['type'] ?? impliedType(node)].flat() as unknown[];
  const others = types.filter((type) => type !== 'null');
  // Several types are as good as none: an input has one.
  return { type: others.length > 1 ? undefined : (others[0] ?? types[0]), isNullable: others.length < types.length };
}

const impliedType = (node: Schema): string | undefined =>
  'properties' in node ? 'object' : 'items' in node ? 'array' : undefined;

function plain(values: unknown[], { name }: Place): (string | number | boolean | null)[] {
  if (values.length > MOST_CHOICES) throw new NoForm(`${name} has more than ${MOST_CHOICES} choices`);
  if (values.some((value) => typeof value === 'object' && value !== null))
    throw new NoForm(`${name} has choices that are not plain values`);
  return values as (string | number | boolean | null)[];
}

function wordsOf({ title, description }: Schema): RJSFSchema {
  return {
    ...(typeof title === 'string' && title !== '' && { title: title.slice(0, LONGEST_TITLE) }),
    ...(typeof description === 'string' &&
      description !== '' && { description: description.slice(0, LONGEST_DESCRIPTION) }),
  };
}

const NAMES: Record<string, string> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'yes or no',
  array: 'list',
  null: 'nothing',
};

/** The name of an alternative: its title, the value that distinguishes it, or its type. */
function titleOf({ title, properties = {}, type, const: only }: RJSFSchema, index: number): string {
  const [constant] = Object.values(constantsOf({ properties }));
  return title ?? String(only ?? constant ?? NAMES[[type].flat()[0] ?? ''] ?? `Alternative ${index + 1}`);
}
