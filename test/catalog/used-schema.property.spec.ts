// For configuration files with mistakes at random: the part of the schema that a file uses finds what the whole schema finds.
import { globSync, readFileSync } from 'node:fs';

import fc from 'fast-check';
import { parse } from 'yaml';

import { configurationSchema } from '../../src/catalog/configuration-file/configuration-schema.js';
import { validateSchema } from '../../src/catalog/configuration-file/schema-validation.js';
import { usedSchema } from '../../src/catalog/configuration-file/used-schema.js';
import { Diagnostics } from '../../src/catalog/diagnostics.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/common/json.js';
import { serverSettingsSchema } from '../../src/config/settings-documents.js';
import { FILE_ENGINES } from '../../src/engines/engine-registry.js';
import { printedSeed } from '../support/random.js';

const SCHEMA = configurationSchema(FILE_ENGINES, serverSettingsSchema);

const FILES = ['examples/**/*.yaml', 'templates/**/*.yaml', 'bench/*.yaml']
  .flatMap((pattern) => globSync(pattern))
  .map((file) => parse(readFileSync(file, 'utf8')) as JsonValue)
  .filter((file) => isJsonObject(file) && 'agents' in file) as JsonObject[];

interface Edit {
  /** Chooses one of the values of the file. */
  place: number;
  /** Takes the place of the value. `undefined` removes it. */
  value: JsonValue | undefined;
  /** The name under which it is put there, beside the others. Without it, the value is replaced. */
  name: string | null;
}

const edits = fc.array(
  fc.record<Edit>({
    place: fc.nat(),
    value: fc.constantFrom<JsonValue | undefined>(
      undefined,
      null,
      0,
      -1,
      'x',
      '5m',
      [],
      ['x', 'x'],
      {},
      { x: {} },
      true,
    ),
    name: fc.constantFrom(
      null,
      null,
      'x',
      'engine',
      'kind',
      'types',
      'limits',
      'key',
      'batch',
      'cron',
      'every',
      'constructor',
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

/** All objects and lists of a document with their keys. */
function placesIn(value: JsonValue): { around: JsonObject | JsonValue[]; key: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [{ around: value, key }, ...placesIn(inner)]);
}

function edited(file: JsonObject, changes: readonly Edit[]): JsonObject {
  const result = structuredClone(file);
  for (const { place, value, name } of changes) {
    const places = placesIn(result);
    if (places.length === 0) break;
    const { around, key } = places[place % places.length]!;
    const target = around as Record<string, JsonValue>;
    const at = name !== null && !Array.isArray(around) ? name : key;
    if (value === undefined) delete target[at];
    else target[at] = structuredClone(value);
  }
  // A removed item of a list leaves a hole.
  return JSON.parse(JSON.stringify(result)) as JsonObject;
}

function checked(file: JsonObject, schema: JsonObject): { valid: unknown; errors: unknown } {
  const errors = new Diagnostics();
  const valid = validateSchema(file, schema, [], errors);
  return { valid, errors: errors.toDiagnostics(() => undefined) };
}

it('the part of the schema that a file uses finds the mistakes that the whole schema finds', () => {
  let wrong = 0;
  fc.assert(
    fc.property(fc.constantFrom(...FILES), edits, (file, changes) => {
      const document = edited(file, changes);
      const expected = checked(document, SCHEMA);
      if ((expected.errors as unknown[]).length > 0) wrong += 1;
      expect(checked(document, usedSchema(SCHEMA, [document]))).toEqual(expected);
    }),
    { seed: printedSeed(), numRuns: 100 },
  );
  expect(wrong).toBeGreaterThan(50);
}, 60_000);
