// Puts wrong values in each place of the configuration, and reads the messages.
import { configurationSchema } from '../../src/catalog/configuration-file/configuration-schema.js';
import { validateSchema } from '../../src/catalog/configuration-file/schema-validation.js';
import { Diagnostics } from '../../src/catalog/diagnostics.js';
import type { JsonObject, JsonValue } from '../../src/common/json.js';
import { serverSettingsSchema } from '../../src/config/settings-documents.js';
import { FILE_ENGINES } from '../../src/engines/engine-registry.js';

const WRONG: JsonValue[] = [null, true, -7, 1.5, 1e12, '', 'x'.repeat(10_001), [], [[]], Array(2_000).fill('x'), {}];

/** The words of the library for a value that breaks a schema. */
const LIBRARY =
  /must NOT|must be (object|array|string|number|integer|boolean|null)|must be [<>]|must match (a schema|exactly|pattern|format|"|the regular)|boolean schema/;

/** Values with a wrong value in each place that the schema describes. */
function* wrongValues(schema: JsonObject): Generator<JsonValue> {
  yield* WRONG;
  const { properties, additionalProperties, items, allOf, oneOf, anyOf, then, else: other } = schema as Parts;
  for (const [name, part] of Object.entries(properties ?? {}))
    for (const value of wrongValues(part)) yield { [name]: value };
  if (typeof additionalProperties === 'object')
    for (const value of wrongValues(additionalProperties)) yield { one: value };
  if (items) for (const value of wrongValues(items)) yield [value];
  for (const part of [...(allOf ?? []), ...(oneOf ?? []), ...(anyOf ?? []), ...(other ? [other] : [])])
    yield* wrongValues(part);
  const kind = (schema as Parts).if?.properties?.['kind']?.['const'];
  if (then)
    for (const value of wrongValues(then))
      yield kind === undefined || typeof value !== 'object' || Array.isArray(value) ? value : { ...value, kind };
}

interface Parts {
  properties?: Record<string, JsonObject>;
  additionalProperties?: JsonObject | boolean;
  items?: JsonObject;
  allOf?: JsonObject[];
  oneOf?: JsonObject[];
  anyOf?: JsonObject[];
  if?: { properties?: Record<string, JsonObject> };
  then?: JsonObject;
  else?: JsonObject;
}

test('no message about a value of a wrong form has the words of the library', () => {
  const schema = configurationSchema(FILE_ENGINES, serverSettingsSchema);
  const found = new Set<string>();
  let values = 0;
  for (const value of wrongValues(schema)) {
    values += 1;
    const errors = new Diagnostics();
    validateSchema(value, schema, [], errors);
    for (const { path, message } of errors.toDiagnostics(() => undefined)) {
      if (LIBRARY.test(message)) found.add(`${path}: ${message.slice(0, 200)}`);
    }
  }
  expect([...found]).toEqual([]);
  expect(values).toBeGreaterThan(1_000);
});
