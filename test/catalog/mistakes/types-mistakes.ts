import { type Mistake, withSchema } from './mistake.js';

/** Types and their schemas. */
export const TYPES_MISTAKES: Mistake[] = [
  [
    'a misspelt key of a type',
    'types:\n  Order: { shema: {} }\n',
    'error line 2, column 12: types.Order.shema: is not a known key; did you mean schema?',
  ],
  [
    'a type without a keyword',
    'types:\n  Order: { type: object }\n',
    'error line 2, column 12: types.Order.type: is not a known key',
  ],
  [
    'a version as text',
    "types:\n  Order: { version: '2' }\n",
    'error line 2, column 12: types.Order.version: must be a whole number that is at least 1',
  ],
  [
    'a schema for texts',
    withSchema('{ type: string }'),
    'error line 3, column 15: types.Order.schema.type: must be object, because every payload is an object',
  ],
  [
    'a misspelt JSON Schema type',
    withSchema('{ type: object, properties: { n: { type: strng } } }'),
    'error line 3, column 48: types.Order.schema.properties.n.type: must be one of "array", "boolean", "integer", "null", "number", "object", "string"; did you mean "string"?',
  ],
  [
    'a regular expression that is not one',
    withSchema("{ properties: { n: { pattern: '(' } } }"),
    'error line 3, column 34: types.Order.schema.properties.n.pattern: "(" is not a regular expression: Unterminated group',
  ],
  [
    'a pattern that needs backtracking',
    withSchema("{ properties: { n: { pattern: '^(?=x)' } } }"),
    'error line 3, column 34: types.Order.schema.properties.n.pattern: "^(?=x)" has (?=x), but lookahead and lookbehind cannot be checked in linear time; to require several patterns, use allOf',
  ],
  [
    'an unknown format',
    withSchema('{ properties: { n: { format: dat } } }'),
    'error line 3, column 34: types.Order.schema.properties.n.format: "dat" is not a known format',
  ],
  [
    'a reference to another document',
    withSchema('{ $ref: "https://example.com/order.json" }'),
    'error line 3, column 15: types.Order.schema.$ref: refers to https://example.com/order.json, which is not inside this schema; nothing is fetched, so move it into $defs',
  ],
  [
    'a reference to nothing',
    withSchema('{ properties: { n: { $ref: "#/$defs/nam" } }, $defs: { name: { type: string } } }'),
    'error line 3, column 34: types.Order.schema.properties.n.$ref: refers to #/$defs/nam, which is not inside this schema; nothing is fetched, so move it into $defs',
  ],
  [
    'a required name that a closed schema forbids',
    withSchema('{ additionalProperties: false, required: [txt], properties: { text: { type: string } } }'),
    'error line 3, column 55: types.Order.schema.required[0]: txt is not in properties, so additionalProperties: false forbids what required asks for; did you mean text?',
  ],
  [
    'a required name that is misspelt',
    withSchema('{ required: [txet], properties: { text: { type: string } } }'),
    'warning line 3, column 26: types.Order.schema.required[0]: txet is not in properties; did you mean text?',
  ],
  [
    'required as a text',
    withSchema('{ required: text, properties: { text: { type: string } } }'),
    'error line 3, column 15: types.Order.schema.required: must be a list',
  ],
  [
    'an example that the schema refuses',
    withSchema('{ properties: { n: { type: number } }, examples: [{ n: many }] }'),
    'warning line 3, column 65: types.Order.schema.examples[0].n: must be number; the schema refuses this example',
  ],
  [
    'an example of a property that its schema refuses',
    withSchema('{ properties: { n: { type: number, examples: [1, many] } } }'),
    'warning line 3, column 62: types.Order.schema.properties.n.examples[1]: must be number; the schema refuses this example',
  ],
  [
    'a default that the schema refuses',
    'types:\n  Order:\n    defaults: true\n    schema: { properties: { n: { type: number, default: many } } }\n',
    'error line 4, column 48: types.Order.schema.properties.n.default: must be number',
  ],
  [
    'a retention without a unit',
    'types:\n  Order: { retain: 30 }\n',
    'error line 2, column 12: types.Order.retain: must be a duration such as 500ms, 30s, 5m, 2h or 30d',
  ],
  [
    'a name with a space at its end',
    "types:\n  'Order ': {}\n",
    'error line 2, column 3: types["Order "]: is not a valid name: use 1 to 200 characters, without control characters and without spaces at its ends, other than . and ..',
  ],
  [
    'a declaration of WorkflowError',
    'types:\n  WorkflowError: { version: 2 }\n',
    `error line 2, column 3: types.WorkflowError: is reserved for the service: set only its \`retain\`, or choose another name for your type`,
  ],
];
