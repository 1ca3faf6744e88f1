import type { JsonObject } from '../../common/json.js';
import { MOST_BURST, MOST_CONCURRENCY, RATE_PATTERN, RATE_RULE } from '../limits.js';
import { nameSchema } from './name-schema.js';

/** An agent may take part in this many limits. */
const MOST_LIMITS = 10;

const expression = (description: string): JsonObject => ({
  description,
  type: 'string',
  minLength: 1,
  errorMessage: 'must be a text with a CEL expression; put the expression in quotes',
});

export const limitSchema: JsonObject = {
  description: 'A limit that agents share, over all processes: concurrency, rate or both',
  type: 'object',
  additionalProperties: false,
  anyOf: [{ required: ['concurrency'] }, { required: ['rate'] }],
  objectMessage: 'must be an object with concurrency, rate or both',
  properties: {
    concurrency: {
      description: 'Executions that may run at the same time, for each key',
      type: 'integer',
      minimum: 1,
      maximum: MOST_CONCURRENCY,
    },
    rate: {
      description: 'Attempts that may start in a time, for each key: 60/m or 5/10s, evenly spread',
      type: 'string',
      pattern: RATE_PATTERN,
      errorMessage: RATE_RULE,
    },
    burst: {
      description:
        'Units of the rate that may start together after a pause; default: 1, or the count of the rate if units is set',
      type: 'integer',
      minimum: 1,
      maximum: MOST_BURST,
    },
    units: expression('CEL expression over payload, artifact and inputs: what one attempt costs; default: 1'),
    hold: {
      description:
        'Whether an execution that has started counts for concurrency until it ends: also while it waits for its next attempt, a person or a later answer',
      type: 'boolean',
      default: false,
    },
    key: expression('CEL expression over payload, artifact and inputs; executions with equal keys share the limit'),
  },
};

export const limitUsesSchema: JsonObject = {
  description: 'Limits of this file that its executions share with those of other agents',
  type: 'array',
  minItems: 1,
  maxItems: MOST_LIMITS,
  errorMessage: `must be a list of 1 to ${MOST_LIMITS} limits, such as [openai, { name: per_customer, key: payload.customer }]`,
  items: {
    if: { type: 'object' },
    then: {
      additionalProperties: false,
      required: ['name'],
      properties: {
        name: nameSchema,
        key: expression('CEL expression over payload, artifact and inputs; default: the key of the limit'),
      },
    },
    else: {
      ...nameSchema,
      errorMessage: 'must be the name of a limit, or an object such as { name: per_customer, key: payload.customer }',
    },
  },
};
