import { type Ajv, MissingRefError, type ValidateFunction } from 'ajv';
import type { JsonObject } from '../../common/json.js';
import { PatternBudget } from '../../patterns/pattern-work.js';
import { type Draft, DRAFT_NAMES, newAjv, Patterns } from './payload-ajv.js';
import { RecursiveReferences } from './recursive-references.js';
import { describeSchemaErrors, type SchemaError } from './schema-errors.js';
import { dynamicReferencesIn, patternPlacesIn, placesOf } from './schema-places.js';
import { UniqueItems } from './unique-items.js';

/** Gives what is wrong with a payload; empty where it fits. */
export type PayloadValidator = (payload: unknown) => SchemaError[];

export type CompiledSchema = { validate: PayloadValidator } | { errors: SchemaError[] };

const DEFAULT_DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/** Compiles the JSON Schema of a type's payloads, or tells what is wrong with it; nothing is ever fetched. `budget`: of all schemas together. */
export function compilePayloadSchema(schema: JsonObject, budget = new PatternBudget()): CompiledSchema {
  const draft = draftOf(schema);
  if (draft === null) {
    return schemaError(['$schema'], `must be ${DRAFT_NAMES.join(' or ')}`);
  }
  if (schema.$async !== undefined) return schemaError(['$async'], 'is not supported: payloads are checked synchronously');
  if (typeof schema.type === 'string' && schema.type !== 'object') return schemaError(['type'], 'must be object, because every payload is an object');
  const wrong = violationsOfDraft(draft, schema);
  if (wrong.length > 0) return { errors: wrong };
  return compile(draft, schema, budget);
}

function draftOf(schema: JsonObject): Draft | null {
  const named = typeof schema.$schema === 'string' ? schema.$schema.replace(/#$/, '') : (schema.$schema ?? DEFAULT_DRAFT);
  return DRAFT_NAMES.find((draft) => draft === named) ?? null;
}

const draftValidators = new Map<Draft, Ajv>();

function violationsOfDraft(draft: Draft, schema: JsonObject): SchemaError[] {
  // Compiling a draft's own schema takes long; one instance serves all types.
  const ajv = draftValidators.get(draft) ?? newAjv(draft, new Patterns(new PatternBudget()), { allErrors: true });
  draftValidators.set(draft, ajv);
  void ajv.validateSchema(schema);
  return withoutRepetition(describeSchemaErrors(ajv.errors ?? [], schema));
}

/** What they lead to depends on how the schema was reached, so that `RecursiveReferences` cannot remember it. */
const dynamicReferences = (schema: JsonObject): SchemaError[] =>
  dynamicReferencesIn(schema).map((path) => ({ path, message: 'is not supported; use $ref' }));

const endlessReferences = ({ sameValue }: RecursiveReferences, schema: JsonObject): SchemaError[] =>
  placesOf(schema, sameValue.endless()).map(({ path, schema: { $ref: reference } }) => ({
    path: [...path, '$ref'],
    message: `${JSON.stringify(reference)} leads back to itself for the same value, so a check would never end; refer to it from properties or items`,
  }));

function compile(draft: Draft, schema: JsonObject, budget: PatternBudget): CompiledSchema {
  const unknownFormats: SchemaError[] = [];
  const logger = { log: () => {}, error: () => {}, warn: (text: unknown) => void unknownFormats.push(unknownFormat(String(text))) };
  const patterns = new Patterns(budget);
  const references = new RecursiveReferences();
  const uniqueItems = new UniqueItems();
  const compiled = (allErrors: boolean): ValidateFunction => {
    const ajv = newAjv(draft, patterns, { logger: allErrors ? false : logger, allErrors, validateSchema: false });
    references.addTo(ajv);
    uniqueItems.addTo(ajv);
    return ajv.compile(schema);
  };
  try {
    // Stops at the first error, so that a hostile payload of a megabyte cannot make as many errors as it has values.
    const quick = compiled(false);
    const errors = [...unknownFormats, ...refusedPatterns(patterns, schema), ...dynamicReferences(schema), ...endlessReferences(references, schema)];
    if (errors.length > 0) return { errors: withoutRepetition(errors) };
    const thorough = compiled(true);
    return { validate: (payload) => violations(quick, thorough, [references, uniqueItems], payload) };
  } catch (error) {
    return schemaError([], compileProblem(error as Error));
  }
}

function refusedPatterns({ refused }: Patterns, schema: JsonObject): SchemaError[] {
  return [...refused].flatMap(([pattern, why]) => {
    const places = patternPlacesIn(schema, pattern);
    return (places.length === 0 ? [[]] : places).map((path) => ({ path, message: `${JSON.stringify(pattern)} ${why}` }));
  });
}

/** Not being strict, Ajv lets unknown formats pass with this warning: `unknown format "x" ignored in schema at path "#/a"`. */
function unknownFormat(warning: string): SchemaError {
  const [, format, pointer] = /^unknown format "(.*)" ignored in schema at path "#\/?(.*)"$/.exec(warning) ?? [];
  if (format === undefined) return { path: [], message: warning };
  const segments = pointer === '' ? [] : pointer!.split('/').map((token) => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'));
  return { path: [...segments, 'format'], message: `${JSON.stringify(format)} is not a known format` };
}

function compileProblem(error: Error): string {
  if (error instanceof MissingRefError) {
    return `refers to ${error.missingRef}, which is not inside this schema; nothing is fetched, so move it into $defs`;
  }
  return error.message;
}

const SMALL_PAYLOAD = 1_000;

function violations(quick: ValidateFunction, thorough: ValidateFunction, memories: { forget(): void }[], payload: unknown): SchemaError[] {
  const forget = (): void => memories.forEach((memory) => memory.forget());
  try {
    if (quick(payload)) return [];
    const isSmall = countValues(payload, SMALL_PAYLOAD) < SMALL_PAYLOAD;
    forget();
    if (isSmall) thorough(payload);
    return withoutRepetition(describeSchemaErrors((isSmall ? thorough : quick).errors ?? [], payload));
  } finally {
    forget();
  }
}

/** How many values are in `value`, itself included; stops counting at `limit`. */
function countValues(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const inner of Object.values(value)) {
    if (count >= limit) break;
    count += countValues(inner, limit - count);
  }
  return count;
}

/** Branches of an `anyOf` often say the same. */
const withoutRepetition = (errors: SchemaError[]): SchemaError[] => [
  ...new Map(errors.map((error) => [JSON.stringify([error.path, error.message]), error])).values(),
];

const schemaError = (path: SchemaError['path'], message: string): CompiledSchema => ({ errors: [{ path, message }] });
