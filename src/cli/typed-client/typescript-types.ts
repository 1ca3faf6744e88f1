import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.js';

const INDENT = '  ';

/** Returns a TypeScript type for a schema of the OpenAPI document. Every value that the schema accepts has the type. */
export function typeScriptType(schema: JsonObject, indent = ''): string {
  const { $ref, nullable } = schema;
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
  const parts = [plainType(schema, indent), joined(schema.allOf, ' & '), joined(schema.anyOf, ' | ')];
  const given = parts.filter((part) => part !== null);
  const type = given.length > 1 ? given.map((part) => `(${part})`).join(' & ') : (given[0] ?? 'unknown');
  return nullable === true ? `${type} | null` : type;
}

/** Returns null if the schema says nothing but alternatives. */
function plainType(schema: JsonObject, indent: string): string | null {
  const { type, enum: choices, items, anyOf, allOf } = schema;
  if (Array.isArray(choices)) return choices.map((choice) => typeScriptText(String(choice))).join(' | ');
  if (type === 'array') return `Array<${typeScriptType(items as JsonObject, indent)}>`;
  if (type === 'integer') return 'number';
  if (type === 'string' || type === 'number' || type === 'boolean') return type;
  if (isJsonObject(schema.properties)) return objectType(schema, schema.properties, indent);
  return type === 'object' && !anyOf && !allOf ? recordType(schema) : null;
}

function recordType({ additionalProperties }: JsonObject): string {
  const values = isJsonObject(additionalProperties) ? typeScriptType(additionalProperties) : 'unknown';
  return `Record<string, ${values}>`;
}

function objectType({ required }: JsonObject, properties: JsonObject, indent: string): string {
  const inner = indent + INDENT;
  const fields = Object.entries(properties).map(([name, part]) => {
    const isRequired = Array.isArray(required) && required.includes(name);
    const type = typeScriptType(part as JsonObject, inner);
    return `${comment(part, inner)}${inner}${typeScriptKey(name)}${isRequired ? '' : '?'}: ${type};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
}

const joined = (parts: JsonValue | undefined, operator: string): string | null =>
  Array.isArray(parts) ? parts.map((part) => typeScriptType(part as JsonObject)).join(operator) : null;

/** Returns the description of a schema as a comment with its line end; empty if it has none. */
export function comment(schema: JsonValue, indent = ''): string {
  const description = isJsonObject(schema) ? schema.description : undefined;
  if (typeof description !== 'string') return '';
  return `${indent}/** ${description.trim().replaceAll(/\s+/g, ' ').replaceAll('*/', '*\\/')} */\n`;
}

export const typeScriptKey = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : typeScriptText(name));

/** Returns a text as a literal in single quotes. */
export const typeScriptText = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
