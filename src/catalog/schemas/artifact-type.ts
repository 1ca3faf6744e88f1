import type { JsonObject } from '../../common/json.js';
import { isJsonObject } from '../../common/json.js';
import { type AcceptedPayload, type ArtifactType, WORKFLOW_ERROR } from '../definitions.js';
import { formatPath, type Path } from '../diagnostics.js';
import type { GrowthLimit } from '../growth-limit.js';
import { compilePayloadSchema, type PayloadValidator } from './payload-schema.js';
import type { SchemaDefaults } from './schema-defaults.js';
import type { SchemaError } from './schema-errors.js';

const PAYLOAD: Path = ['payload'];

const MAX_ERRORS = 10;
const MAX_LENGTH = 1_000;

/** A declared type. `validate` checks its payloads, after `defaults` are filled in. */
export function declaredType(
  declared: Omit<ArtifactType, 'accept'>,
  validate: PayloadValidator,
  defaults: SchemaDefaults | null = null,
): ArtifactType {
  const accept = (given: unknown, limit: GrowthLimit, place = PAYLOAD): AcceptedPayload => {
    if (!isJsonObject(given)) return noObject(place);
    const filled = defaults ? defaults.fill(given, limit) : { value: given };
    if ('problem' in filled) return { problem: `${formatPath(place)}: ${filled.problem}` };
    const problem = describe(validate(filled.value), place);
    return problem === null ? { payload: filled.value } : { problem };
  };
  return { ...declared, accept };
}

/** A type without a schema, or one that only agents mention. Any object is valid. */
export function openType(
  name: string,
  { version = 1, description = '', retainMs = null }: Partial<Omit<ArtifactType, 'name'>> = {},
): ArtifactType {
  return {
    name,
    version,
    description,
    schema: null,
    retainMs,
    accept: (payload, _limit, place = PAYLOAD) => (isJsonObject(payload) ? { payload } : noObject(place)),
  };
}

const noObject = (place: Path): AcceptedPayload => ({ problem: `${formatPath(place)}: must be object` });

function describe(errors: SchemaError[], place: Path): string | null {
  if (errors.length === 0) return null;
  const shown = errors
    .slice(0, MAX_ERRORS)
    .map(({ path, message }) => `${formatPath([...place, ...path])}: ${message}`);
  if (errors.length > MAX_ERRORS) shown.push(`and ${errors.length - MAX_ERRORS} more`);
  const text = shown.join('; ');
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text;
}

const WORKFLOW_ERROR_SCHEMA: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: [
    'failed_agent',
    'error_type',
    'error_message',
    'timestamp',
    'execution_id',
    'attempts',
    'input_artifact_ids',
  ],
  properties: {
    failed_agent: { type: 'string' },
    error_type: { type: 'string' },
    error_message: { type: 'string' },
    timestamp: { type: 'string', format: 'date-time' },
    execution_id: { description: 'Null for an expired join or a limit', type: ['string', 'null'], format: 'uuid' },
    attempts: { description: '0 for an expired join or a limit', type: 'integer', minimum: 0 },
    input_artifact_ids: { type: 'array', items: { type: 'string', format: 'uuid' } },
  },
};

/** This type always exists, and only the service publishes it. */
export function workflowErrorType(retainMs: number | null): ArtifactType {
  const compiled = compilePayloadSchema(WORKFLOW_ERROR_SCHEMA);
  if ('errors' in compiled) throw new Error(`the schema of ${WORKFLOW_ERROR} is wrong`);
  const description = 'An execution that failed finally, a join that expired or a limit that was reached';
  return declaredType(
    { name: WORKFLOW_ERROR, version: 1, description, schema: WORKFLOW_ERROR_SCHEMA, retainMs },
    compiled.validate,
  );
}
