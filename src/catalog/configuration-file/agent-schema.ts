import type { JsonObject } from '../../common/json.js';
import { budgetSchema } from '../costs.js';
import { MAX_BATCH_SIZE } from '../definitions.js';
import { visibilitySchema } from './visibility-schema.js';

/** `errorMessage` is what editors and the loader show instead of "must match pattern". */
export const nameSchema: JsonObject = {
  type: 'string',
  maxLength: 200,
  pattern: '^(?!__proto__$)[^\\s\\p{C}]([^\\p{C}]*[^\\s\\p{C}])?$',
  errorMessage: 'is no usable name: 1 to 200 characters, without control characters and without spaces at its ends',
};

export const duration = (description: string, fallback?: string): JsonObject => ({
  description,
  type: 'string',
  pattern: '^\\d+(\\.\\d+)?(ms|s|m|h|d)$',
  errorMessage: 'must be a duration such as 500ms, 30s, 5m, 2h or 30d',
  ...(fallback === undefined ? {} : { default: fallback }),
});

const expression = (description: string): JsonObject => ({ description, type: 'string', minLength: 1 });

const texts = (description: string): JsonObject => ({
  description,
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  items: { type: 'string', minLength: 1 },
  errorMessage: 'must be a list of one or more texts, such as [one, two]',
});

const subscriptionSchema: JsonObject = {
  description: 'Which artifacts trigger the agent',
  type: 'object',
  additionalProperties: false,
  required: ['types'],
  errorMessage: 'must be an object such as { types: [CustomerMessage] }',
  properties: {
    types: { ...texts('Artifact types'), items: nameSchema },
    mode: { description: 'all: one artifact of every type, joined; any: each artifact on its own', enum: ['all', 'any'], default: 'all' },
    where: expression('CEL over payload, artifact and inputs; only true triggers'),
    from_agents: { ...texts('Producers, any of which will do; external is what clients publish'), items: nameSchema },
    tags: texts('Tags, any of which will do'),
    join: {
      description: 'How artifacts of several types find each other; without it, by their correlation',
      type: 'object',
      additionalProperties: false,
      properties: {
        by: expression('CEL that gives the key of one artifact'),
        within: duration('Counted from the first artifact; what is incomplete then is dropped with a WorkflowError'),
      },
    },
    batch: {
      description: 'Collects artifacts and runs the agent once on the list of them',
      type: 'object',
      additionalProperties: false,
      minProperties: 1,
      errorMessage: 'must be an object with size, timeout or both',
      properties: {
        size: { description: 'Runs when this many are there', type: 'integer', minimum: 1, maximum: MAX_BATCH_SIZE },
        timeout: duration('Runs when the first has waited this long'),
      },
    },
    priority: { description: 'Higher runs first', type: 'integer', minimum: -1_000_000, maximum: 1_000_000, default: 0 },
    allow_self: { description: "Whether the agent's own outputs may trigger it", type: 'boolean', default: false },
  },
};

const outputSchema: JsonObject = {
  description: 'One type that the agent publishes',
  type: 'object',
  additionalProperties: false,
  required: ['type'],
  errorMessage: 'must be an object such as { type: Reply }',
  properties: {
    type: nameSchema,
    visibility: { description: 'Who may see what it publishes; everyone where absent', ...visibilitySchema },
    tags: texts('Tags of what it publishes'),
  },
};

const retrySchema: JsonObject = {
  description: 'Failed attempts are repeated after a delay that doubles each time',
  type: 'object',
  additionalProperties: false,
  properties: {
    attempts: { description: 'Attempts in all, the first included', type: 'integer', minimum: 1, maximum: 100, default: 3 },
    delay: duration('Before the second attempt', '1s'),
    max_delay: duration('The delay never grows beyond this', '1m'),
  },
};

/** An agent as both front ends write it; `own` are the keys that only one of them has, all of them required. */
export function agentSchema(own: JsonObject): JsonObject {
  return {
    description: 'An agent: what triggers it, what it publishes, how it works',
    type: 'object',
    additionalProperties: false,
    required: [...Object.keys(own), 'consumes'],
    errorMessage: `must be an object with ${[...Object.keys(own), 'consumes'].join(' and ')}`,
    properties: {
      ...own,
      description: { type: 'string' },
      labels: texts('What Labelled visibility asks for'),
      tenant_id: { description: 'The tenant that the agent belongs to, for Tenant visibility', type: 'string', minLength: 1 },
      consumes: {
        description: 'Subscriptions',
        type: 'array',
        minItems: 1,
        items: subscriptionSchema,
        errorMessage: 'must be a list of one or more subscriptions, such as [{ types: [CustomerMessage] }]',
      },
      publishes: { description: 'Outputs', type: 'array', items: outputSchema, errorMessage: 'must be a list such as [{ type: Reply }]' },
      timeout: duration('For one attempt', '60s'),
      concurrency: { description: 'Executions at once, over all processes', type: 'integer', minimum: 1, maximum: 10_000, default: 10 },
      retry: retrySchema,
      budget: budgetSchema('What the agent may use of models in one correlation; one that overruns it ends, with a WorkflowError'),
    },
  };
}
