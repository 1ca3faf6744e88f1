import { type Ajv, MissingRefError, type ValidateFunction } from 'ajv';

import type { JsonObject } from '../../common/json.js';
import { PatternBudget } from '../../patterns/pattern-work.js';
import type { Path } from '../diagnostics.js';
import { authorWords } from './author-words.js';
import { type Draft, DRAFT_NAMES, newAjv, Patterns } from './payload-ajv.js';
import { RecursiveReferences } from './recursive-references.js';
import { describeSchemaErrors, type SchemaError } from './schema-errors.js';
import {
  dynamicReferencesIn,
  patternPlacesIn,
  placesOf,
  pointerTo,
  protoNamesIn,
  subschemas,
} from './schema-places.js';
import { singleCauses } from './single-causes.js';
import { UniqueItems } from './unique-items.js';

/** Returns the problems of a payload. Empty if it is valid. */
export type PayloadValidator = (payload: unknown) => SchemaError[];

export type CompiledSchema = { validate: PayloadValidator; lookup: SchemaLookup } | { errors: SchemaError[] };

/** The meanings of the parts of a compiled schema. */
export interface SchemaLookup {
  /** Returns the schema that the `$ref` of `part` leads to. */
  target(part: JsonObject): unknown;
  /** Returns a `pattern` of the schema. */
  pattern(source: string): { test(text: string): boolean };
  /** Returns the problems of a value at the part of the schema with this path. */
  violations(path: Path, value: unknown): SchemaError[];
}

const DEFAULT_DRAFT = 'https://json-schema.org/draft/2020-12/schema';

/**
 * Compiles the JSON Schema of a type's payloads or returns its problems. It never fetches anything. `budget` applies to
 * all schemas together.
 */
export function compilePayloadSchema(schema: JsonObject, budget = new PatternBudget()): CompiledSchema {
  const draft = draftOf(schema);
  if (draft === null) {
    return schemaError(['$schema'], `must be ${DRAFT_NAMES.join(' or ')}`);
  }
  if (schema.$async !== undefined)
    return schemaError(['$async'], 'is not supported: payloads are checked synchronously');
  if (typeof schema.type === 'string' && schema.type !== 'object')
    return schemaError(['type'], 'must be object, because every payload is an object');
  const wrong = violationsOfDraft(draft, schema);
  if (wrong.length > 0) return { errors: wrong };
  return compile(draft, schema, budget);
}

function draftOf(schema: JsonObject): Draft | null {
  const named =
    typeof schema.$schema === 'string' ? schema.$schema.replace(/#$/, '') : (schema.$schema ?? DEFAULT_DRAFT);
  return DRAFT_NAMES.find((draft) => draft === named) ?? null;
}

const draftValidators = new Map<Draft, Ajv>();

function violationsOfDraft(draft: Draft, schema: JsonObject): SchemaError[] {
  // Compiling the schema of a draft is slow, so one instance serves all types.
  const ajv = draftValidators.get(draft) ?? newAjv(draft, new Patterns(new PatternBudget()), { allErrors: true });
  draftValidators.set(draft, ajv);
  void ajv.validateSchema(schema);
  return withoutRepetition(describeSchemaErrors(singleCauses(ajv.errors ?? []), schema, authorWords));
}

/**
 * The target of a dynamic reference depends on the path to the schema, so `RecursiveReferences` cannot store its
 * results.
 */
const dynamicReferences = (schema: JsonObject): SchemaError[] =>
  dynamicReferencesIn(schema).map((path) => ({ path, message: 'is not supported; use $ref' }));

/** Refused, because Ajv would accept any value under this name. */
const protoNames = (schema: JsonObject): SchemaError[] =>
  protoNamesIn(schema).map((path) => ({
    path,
    message: 'is not checked under this name; use patternProperties with "^__proto__$"',
  }));

const endlessReferences = ({ sameValue }: RecursiveReferences, schema: JsonObject): SchemaError[] =>
  placesOf(schema, sameValue.endless()).map(({ path, schema: { $ref: reference } }) => ({
    path: [...path, '$ref'],
    message: `${JSON.stringify(reference)} leads back to itself for the same value, so a check would never end; refer to it from properties or items`,
  }));

function compile(draft: Draft, schema: JsonObject, budget: PatternBudget): CompiledSchema {
  const unknownFormats: SchemaError[] = [];
  const logger = {
    log: () => {},
    error: () => {},
    warn: (text: unknown) => void unknownFormats.push(unknownFormat(String(text))),
  };
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
    // Stops at the first error, because a hostile payload of one megabyte could cause an error for each of its values.
    const quick = compiled(false);
    const errors = [
      ...unknownFormats,
      ...refusedPatterns(patterns, schema),
      ...dynamicReferences(schema),
      ...protoNames(schema),
      ...endlessReferences(references, schema),
    ];
    if (errors.length > 0) return { errors: withoutRepetition(errors) };
    const thorough = compiled(true);
    return {
      validate: (payload) => violations(quick, thorough, [references, uniqueItems], payload),
      lookup: {
        target: (part) => references.targets.get(part),
        pattern: (source) => patterns.get(source),
        violations: partValidator(draft, schema, patterns),
      },
    };
  } catch (error) {
    const places = error instanceof MissingRefError ? referencesTo(error.missingRef, schema) : [];
    return schemaError(places[0] ?? [], compileProblem(error as Error));
  }
}

/** The places of this reference. None if an `$id` makes it another one than the schema shows. */
const referencesTo = (reference: string, schema: JsonObject): Path[] =>
  subschemas(schema).flatMap(({ path, schema: { $ref } }) => ($ref === reference ? [[...path, '$ref']] : []));

function refusedPatterns({ refused }: Patterns, schema: JsonObject): SchemaError[] {
  return [...refused].flatMap(([pattern, why]) => {
    const places = patternPlacesIn(schema, pattern);
    return (places.length === 0 ? [[]] : places).map((path) => ({
      path,
      message: `${JSON.stringify(pattern)} ${why}`,
    }));
  });
}

/**
 * Ajv is not strict here and only warns about unknown formats: `unknown format "x" ignored in schema at path "#/a"`.
 */
function unknownFormat(warning: string): SchemaError {
  const [, format, pointer] = /^unknown format "(.*)" ignored in schema at path "#\/?(.*)"$/.exec(warning) ?? [];
  if (format === undefined) return { path: [], message: warning };
  const segments =
    pointer === ''
      ? []
      : pointer!.split('/').map((token) => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'));
  return { path: [...segments, 'format'], message: `${JSON.stringify(format)} is not a known format` };
}

function compileProblem(error: Error): string {
  if (error instanceof MissingRefError) {
    return `refers to ${error.missingRef}, which is not inside this schema; nothing is fetched, so move it into $defs`;
  }
  return error.message;
}

/** The instance is made when it is first used, which takes some milliseconds. */
function partValidator(draft: Draft, schema: JsonObject, patterns: Patterns): SchemaLookup['violations'] {
  let made: Ajv | undefined;
  return (path, value) => {
    made ??= newAjv(draft, patterns, { logger: false, allErrors: true, validateSchema: false }).addSchema(
      schema,
      'type',
    );
    const validate = made.getSchema(`type${pointerTo(path)}`)!;
    return validate(value) ? [] : withoutRepetition(describeSchemaErrors(validate.errors ?? [], value));
  };
}

const SMALL_PAYLOAD = 1_000;

function violations(
  quick: ValidateFunction,
  thorough: ValidateFunction,
  memories: { forget(): void }[],
  payload: unknown,
): SchemaError[] {
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

/** Counts the values in `value`, including itself, up to `limit`. */
function countValues(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const inner of Object.values(value)) {
    if (count >= limit) break;
    count += countValues(inner, limit - count);
  }
  return count;
}

/** Branches of an `anyOf` often report the same error. */
const withoutRepetition = (errors: SchemaError[]): SchemaError[] => [
  ...new Map(errors.map((error) => [JSON.stringify([error.path, error.message]), error])).values(),
];

const schemaError = (path: SchemaError['path'], message: string): CompiledSchema => ({ errors: [{ path, message }] });
