import { isJsonObject, type JsonObject } from '../../common/json.js';
import type { Components } from '../../features/api-docs/payload-components.js';
import { isPythonName, pythonWord } from './python-names.js';

const PLAIN: Record<string, string> = { string: 'str', integer: 'int', number: 'float', boolean: 'bool' };

/** Writes the definitions of Python types for schemas of the OpenAPI document. Every value that a schema accepts has its type. */
export class PythonTypes {
  readonly definitions: string[] = [];
  private readonly taken: Set<string>;

  constructor(components: Components) {
    this.taken = new Set(Object.keys(components));
    for (const [name, schema] of Object.entries(components)) this.define(name, schema);
  }

  private define(name: string, schema: JsonObject): void {
    if (isRecord(schema)) {
      this.defineRecord(name, schema);
      return;
    }
    this.definitions.push(`${name}: TypeAlias = ${JSON.stringify(this.typeOf(schema, name))}\n`);
  }

  /** A record whose keys are not all names in Python is defined by a call. */
  private defineRecord(name: string, { properties, required, description }: JsonObject): void {
    const fields = Object.entries(properties as JsonObject).map(([key, part]) => {
      const type = this.typeOf(part as JsonObject, name + pythonWord(key));
      const isRequired = Array.isArray(required) && required.includes(key);
      return { key, type: isRequired ? type : `NotRequired[${type}]`, note: noteOf(part as JsonObject) };
    });
    if (fields.every(({ key }) => isPythonName(key))) {
      const doc = typeof description === 'string' ? [`${JSON.stringify(oneLine(description))}\n`] : [];
      const lines = [...doc, ...fields.map(({ key, type, note }) => `${note}${key}: ${type}`)];
      const body = lines.length > 0 ? lines.join('\n') : 'pass';
      this.definitions.push(`class ${name}(TypedDict):\n${body.replaceAll(/^(?=.)/gm, '    ')}\n`);
    } else {
      const lines = fields.map(({ key, type }) => `    ${JSON.stringify(key)}: ${JSON.stringify(type)},\n`);
      this.definitions.push(`${name} = TypedDict("${name}", {\n${lines.join('')}})\n`);
    }
  }

  private typeOf(schema: JsonObject, place: string): string {
    const { $ref, nullable } = schema;
    if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1);
    const type = this.plainType(schema, place);
    return nullable === true && type !== 'Any' ? `${type} | None` : type;
  }

  private plainType(schema: JsonObject, place: string): string {
    const { type, enum: choices, items, anyOf, allOf, properties, additionalProperties } = schema;
    if (Array.isArray(choices)) return `Literal[${choices.map((choice) => JSON.stringify(choice)).join(', ')}]`;
    if (type === 'array') return `list[${this.typeOf(items as JsonObject, `${place}Item`)}]`;
    if (typeof type === 'string' && Object.hasOwn(PLAIN, type)) return PLAIN[type]!;
    if (isRecord(schema)) return this.inner(schema, place);
    const alternatives = [anyOf, allOf].find((parts) => Array.isArray(parts) && !properties);
    // Python cannot say that a value has several types.
    if (Array.isArray(alternatives) && (alternatives === anyOf || alternatives.length === 1))
      return alternatives.map((part) => this.typeOf(part as JsonObject, place)).join(' | ');
    if (type !== 'object') return 'Any';
    return `dict[str, ${isJsonObject(additionalProperties) ? this.typeOf(additionalProperties, `${place}Value`) : 'Any'}]`;
  }

  /** An object inside of another one needs a name. */
  private inner(schema: JsonObject, wanted: string): string {
    let name = wanted;
    for (let number = 2; this.taken.has(name); number++) name = `${wanted}${number}`;
    this.taken.add(name);
    this.define(name, schema);
    return name;
  }
}

const isRecord = ({ properties, anyOf, allOf }: JsonObject): boolean => isJsonObject(properties) && !anyOf && !allOf;

const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');

const noteOf = ({ description }: JsonObject): string =>
  typeof description === 'string' ? `# ${oneLine(description)}\n` : '';
