import { validateSchema } from '../../catalog/configuration-file/schema-validation.js';
import { Diagnostics } from '../../catalog/diagnostics.js';
import { DomainError } from '../../common/domain-error.js';
import type { JsonObject, JsonValue } from '../../common/json.js';
import { isShortText, SHORT_TEXT_RULE, shown } from '../../common/short-text.js';
import { refuse } from '../../http/validation/refuse.js';
import type { ArtifactSelection, Expected, Scorer, Variant } from './definition.js';
import { DATA_FIELDS, EXPECTED_SCHEMA, MOST_ROWS, SCORER_SCHEMA, VARIANT_SCHEMA } from './dto/definition-schemas.js';
import type { ExperimentRequest } from './dto/experiment-request.js';

/** The form of `data` after its check. */
export interface GivenData {
  csv?: string;
  agent?: string;
  delimiter?: string;
  batch?: string;
  artifacts?: ArtifactSelection;
  correlations?: string[];
  limit?: number;
}

/** The parts of a request that have the form of their schemas. */
export interface Form {
  data: GivenData;
  expected: Expected | null;
  variants: Variant[];
  scorers: Scorer[];
}

/** Besides the rows. Each value may be an error, and to describe many of them would block the process. */
const MOST_VALUES = 5_000;

const { overrides, ...ofVariant } = VARIANT_SCHEMA.properties;
/** The configuration and overrides are checked later, with better messages. */
const VARIANT_FORM = {
  ...VARIANT_SCHEMA,
  properties: {
    ...ofVariant,
    configuration: {},
    overrides: { type: 'object', maxProperties: overrides.maxProperties },
  },
};
const FORM = {
  type: 'object',
  properties: {
    data: { ...DATA_FIELDS, properties: { ...DATA_FIELDS.properties, correlations: {} } },
    expected: EXPECTED_SCHEMA,
    variants: { type: 'array', items: VARIANT_FORM },
    scorers: { type: 'array', items: SCORER_SCHEMA },
  },
};

/** Throws DomainError `invalid` if a part does not have the form of its schema. */
export function formOf({ data, expected, variants, scorers }: ExperimentRequest): Form {
  const { correlations, csv, ...rest } = data;
  if (correlations !== undefined) checkCorrelations(correlations);
  const given = {
    // The schema needs no more of a long text.
    data: { ...rest, ...(csv !== undefined && { csv: typeof csv === 'string' ? csv.slice(0, 1) : csv }) },
    ...(expected && { expected }),
    variants,
    scorers,
  };
  let room = MOST_VALUES;
  for (const [field, value] of Object.entries(given)) room = spend(field, value as JsonValue, room);
  const problems = new Diagnostics();
  validateSchema(given, FORM as unknown as JsonObject, [], problems);
  refuse(problems);
  return {
    data: data as GivenData,
    expected: (expected as Expected | undefined) ?? null,
    variants: variants as unknown as Variant[],
    scorers: scorers as unknown as Scorer[],
  };
}

/** The schema does not check the ids, because it would describe thousands of errors. */
function checkCorrelations(given: JsonValue): void {
  if (!Array.isArray(given) || given.length === 0 || given.length > MOST_ROWS)
    throw new DomainError('invalid', `data.correlations: must be a list of 1 to ${MOST_ROWS} ids`);
  const wrong = given.findIndex((id) => !isShortText(id));
  if (wrong >= 0) throw new DomainError('invalid', `data.correlations[${wrong}]: must be ${SHORT_TEXT_RULE}`);
  refuseRepeated(given as string[]);
}

/** One that counts twice would make differences look more certain than they are. */
function refuseRepeated(ids: readonly string[]): void {
  const places = new Map<string, number>();
  for (const [index, id] of ids.entries()) {
    const first = places.get(id);
    if (first !== undefined)
      throw new DomainError(
        'invalid',
        `data.correlations[${index}]: ${shown(id)} is also data.correlations[${first}]; name each correlation once`,
      );
    places.set(id, index);
  }
}

/** Returns how many values there may still be. DomainError `invalid` if there are more. */
function spend(field: string, value: JsonValue, room: number): number {
  if (room === 0)
    throw new DomainError('invalid', `${field}: an experiment must not have more than ${MOST_VALUES} values`);
  if (typeof value !== 'object' || value === null) return room - 1;
  let left = room - 1;
  for (const inner of Object.values(value)) left = spend(field, inner, left);
  return left;
}
