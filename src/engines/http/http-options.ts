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
  description: 'A remote agent: a server that is sent the input artifacts and answers with what the agent publishes',
  type: 'object',
  additionalProperties: false,
  required: ['kind', 'url'],
  properties: {
    kind: { const: 'http' },
    url: {
      description: 'Where the inputs are POSTed to',
      type: 'string',
      pattern: '^https?://[^@\\s]+$',
      errorMessage: 'must be an http or https URL without a user, such as http://127.0.0.1:9000/',
    },
    secret: {
      description: `Signs every request, as webhooks are signed: ${WEBHOOK_SECRET_RULE}; give it as \${NAME}`,
      type: 'string',
      minLength: 16,
      maxLength: 256,
      errorMessage: `must be ${WEBHOOK_SECRET_RULE}`,
    },
    max_answer: {
      description: 'The largest answer that is read, up to 64MiB',
      type: 'string',
      pattern: '^\\d+ ?(B|KiB|MiB|GiB)?$',
      errorMessage: 'must be a size such as 512KiB or 1MiB',
      default: DEFAULT_MAX_ANSWER,
    },
  },
};
