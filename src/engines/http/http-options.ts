import type { JsonObject } from '../../common/json.js';
import { WEBHOOK_SECRET_RULE } from '../../common/webhook-secret.js';

/** An http agent's `engine` object. */
export interface HttpOptions {
  kind: 'http';
  url: string;
  secret?: string;
  max_answer?: string;
}

export const DEFAULT_MAX_ANSWER = '1MiB';

export const httpOptionsSchema: JsonObject = {
  description: 'A remote agent: a server that receives the input artifacts and answers with what the agent publishes',
  type: 'object',
  additionalProperties: false,
  required: ['kind', 'url'],
  properties: {
    kind: { const: 'http' },
    url: {
      description: 'Starling sends the inputs to this URL with POST',
      type: 'string',
      pattern: '^https?://[^@\\s]+$',
      errorMessage: 'must be an http or https URL without a user, such as http://127.0.0.1:9000/',
    },
    secret: {
      description: `Signs every request in the same way as webhooks: ${WEBHOOK_SECRET_RULE}; set it as \${NAME}`,
      type: 'string',
      minLength: 16,
      maxLength: 256,
      errorMessage: `must be ${WEBHOOK_SECRET_RULE}`,
    },
    max_answer: {
      description: 'The largest accepted answer, up to 64MiB',
      type: 'string',
      pattern: '^\\d+ ?(B|KiB|MiB|GiB)?$',
      errorMessage: 'must be a size such as 512KiB or 1MiB',
      default: DEFAULT_MAX_ANSWER,
    },
  },
};
