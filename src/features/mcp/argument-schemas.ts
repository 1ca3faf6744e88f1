import type { ArtifactType } from '../../catalog/definitions.js';
import type { JsonObject } from '../../common/json.js';
import { MAX_SHORT_TEXT } from '../../common/short-text.js';
import { MAX_CORRELATION_ID } from '../../http/middleware/correlation-id.js';
import { DEFAULT_TIMEOUT_SECONDS } from '../artifacts/dto/sync-publish-request.js';
import { MAX_IDEMPOTENCY_KEY } from '../idempotency/idempotent-request.js';
import type { ArgumentsSchema } from './tool.js';

/** Makes the JSON Schema of a tool's arguments. `types` are the artifact types whose schemas are embedded in it. */
export function argumentsSchema(
  properties: JsonObject,
  required: string[],
  types: readonly ArtifactType[] = [],
): ArgumentsSchema {
  const drafts = new Set(types.map(({ schema }) => schema?.$schema));
  const [draft] = drafts;
  // A schema has one draft for all of its parts. Without `$schema`, clients assume the newest draft.
  const dialect: JsonObject = drafts.size === 1 && draft !== undefined ? { $schema: draft } : {};
  const needed: JsonObject = required.length > 0 ? { required } : {};
  return { ...dialect, type: 'object', properties, ...needed, additionalProperties: false };
}

export const text = (description: string): JsonObject => ({ type: 'string', description });
/** Schema of an id or a name. */
export const shortText = (description: string): JsonObject => ({ ...text(description), maxLength: MAX_SHORT_TEXT });
export const texts = (description: string, most?: number): JsonObject => ({
  type: 'array',
  items: { type: 'string' },
  ...(most !== undefined && { maxItems: most }),
  description,
});

/** Arguments of every tool that starts work. The texts are short, because models read them with every tool. */
export const WORK_ARGUMENTS: JsonObject = {
  timeout: {
    type: 'number',
    minimum: 1,
    maximum: 300,
    default: DEFAULT_TIMEOUT_SECONDS,
    description: 'Maximum wait in seconds; the work continues afterwards',
  },
  deadline: text('Duration such as PT5M; work that has not ended by then is cancelled'),
  correlation_id: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_CORRELATION_ID,
    description: 'Your name for the workflow; generated if absent',
  },
  idempotency_key: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_IDEMPOTENCY_KEY,
    description: 'Calls with the same key are executed once',
  },
};
