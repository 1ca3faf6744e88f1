import type { JsonObject } from '../../common/json.js';
import { budgetSchema, modelsSchema } from '../costs.js';
import { MAX_BATCH_SIZE, MOST_ATTEMPTS_OF_BREAKER, MOST_PRIORITY, ON_CONFLICT } from '../definitions.js';
import { OVERRIDABLE } from '../override-options.js';
import { durationSchema } from './duration-keys.js';
import type { EngineKind } from './engine-kind.js';
import { limitSchema, limitUsesSchema } from './limit-schema.js';
import { nameSchema } from './name-schema.js';
import { scheduleSchema } from './schedule-schema.js';
import { visibilitySchema } from './visibility-schema.js';

/** The schema of a key whose value is CEL. Without quotes, YAML reads a map, a list or a constant of CEL as its own. */
export const expressionSchema = (description: string): JsonObject => ({
  description,
  type: 'string',
  minLength: 1,
  errorMessage: 'must be a text with a CEL expression; put the expression in quotes',
});

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
  objectMessage: 'must be an object such as { types: [CustomerMessage] }',
  properties: {
    types: { ...texts('Artifact types'), items: nameSchema },
    mode: {
      description: 'all: joins one artifact of every type; any: takes each artifact separately',
      enum: ['all', 'any'],
      default: 'all',
    },
    where: expressionSchema('CEL expression over payload, artifact and inputs; the agent runs only if it is true'),
    from_agents: { ...texts('Artifacts by any of these producers; external means clients'), items: nameSchema },
    tags: texts('Artifacts with any of these tags'),
    join: {
      description: 'How artifacts of several types join; default: by their correlation',
      type: 'object',
      additionalProperties: false,
      objectMessage: 'must be an object such as { by: payload.order, within: 5m }',
      properties: {
        by: expressionSchema('CEL expression for the join key of an artifact'),
        within: durationSchema(
          'Time limit from the first artifact; an incomplete group is then dropped with a WorkflowError',
        ),
      },
    },
    batch: {
      description: 'Collects artifacts and runs the agent once with the list of them',
      type: 'object',
      additionalProperties: false,
      anyOf: [{ required: ['size'] }, { required: ['timeout'] }],
      objectMessage: 'must be an object with size, timeout or both',
      properties: {
        size: {
          description: 'Runs when the window has this many artifacts',
          type: 'integer',
          minimum: 1,
          maximum: MAX_BATCH_SIZE,
        },
        timeout: durationSchema('Runs when the first artifact has waited this long'),
        key: expressionSchema('CEL expression for the key of an artifact; each key has its own window'),
      },
    },
    debounce: {
      description: 'Runs with the last artifact when none has come for a time; earlier ones are consumed without a run',
      type: 'object',
      additionalProperties: false,
      required: ['wait', 'at_most'],
      objectMessage: 'must be an object such as { key: payload.document, wait: 5s, at_most: 1m }',
      properties: {
        wait: durationSchema('Runs when no artifact of the key has come for this long'),
        at_most: durationSchema('Runs when the first artifact has waited this long, even if more come'),
        key: expressionSchema('CEL expression for the key of an artifact; default: all artifacts have the same'),
      },
    },
    priority: {
      description:
        'Executions with a higher priority run first; a whole number, or a CEL expression over payload, artifact and inputs',
      type: ['integer', 'string'],
      minimum: -MOST_PRIORITY,
      maximum: MOST_PRIORITY,
      minLength: 1,
      errorMessage: `must be a whole number from -${MOST_PRIORITY} to ${MOST_PRIORITY}, or a text with a CEL expression in quotes`,
      default: 0,
    },
    allow_self: { description: "Whether the agent's own outputs may trigger it", type: 'boolean', default: false },
  },
};

const outputSchema: JsonObject = {
  description: 'One type that the agent publishes',
  type: 'object',
  additionalProperties: false,
  required: ['type'],
  objectMessage: 'must be an object such as { type: Reply }',
  properties: {
    type: nameSchema,
    visibility: { description: 'Which agents may see its outputs; default: all', ...visibilitySchema },
    tags: texts('Tags of its outputs'),
  },
};

const retrySchema: JsonObject = {
  description: 'Failed attempts are repeated after a delay that doubles each time',
  type: 'object',
  additionalProperties: false,
  objectMessage: 'must be an object such as { attempts: 3, delay: 1s, max_delay: 1m }',
  properties: {
    attempts: {
      description: 'Number of attempts, including the first',
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 3,
    },
    delay: durationSchema('Delay before the second attempt', '1s'),
    max_delay: durationSchema('Maximum delay', '1m'),
  },
};

const cancelOnSchema: JsonObject = {
  description: 'Artifacts that cancel the executions of the agent that have their key',
  type: 'object',
  additionalProperties: false,
  required: ['types', 'key'],
  objectMessage: 'must be an object such as { types: [OrderCancelled], key: payload.order }',
  properties: {
    types: { ...texts('Artifact types'), items: nameSchema },
    key: expressionSchema(
      'CEL expression over payload, artifact and inputs, of an execution and of the artifact that cancels it',
    ),
  },
};

const cacheSchema: JsonObject = {
  description: 'An execution takes the answer of an earlier one with an equal key, and its engine is not invoked',
  type: 'object',
  additionalProperties: false,
  required: ['for'],
  objectMessage: 'must be an object such as { for: 1h }',
  properties: {
    for: durationSchema('How long an answer is used'),
    key: expressionSchema(
      'CEL expression over payload, artifact and inputs; default: the types and the payloads of the inputs',
    ),
  },
};

const singletonSchema: JsonObject = {
  description: 'One execution of each key runs at a time',
  type: 'object',
  additionalProperties: false,
  required: ['key', 'on_conflict'],
  objectMessage: 'must be an object such as { key: payload.customer, on_conflict: queue }',
  properties: {
    key: expressionSchema('CEL expression over payload, artifact and inputs'),
    on_conflict: {
      description:
        'While another execution with the key has not ended: skip does not run the new one, cancel_running cancels the others, queue runs one after the other',
      enum: [...ON_CONFLICT],
    },
  },
};

const SHARE_PATTERN = '^([1-9]\\d?|100)%$';

const failedAttempts: JsonObject = {
  failures: {
    description: 'The share of the last attempts that must have failed',
    type: 'string',
    pattern: SHARE_PATTERN,
    errorMessage: 'must be a share such as 50%, from 1% to 100%',
  },
  of: {
    description: 'How many of the last attempts count',
    type: 'integer',
    minimum: 1,
    maximum: MOST_ATTEMPTS_OF_BREAKER,
  },
};

const breakerSchema: JsonObject = {
  description: 'Executions wait for a time when too many of the last attempts have failed; then one attempt decides',
  type: 'object',
  additionalProperties: false,
  required: ['failures', 'of', 'open'],
  objectMessage: 'must be an object such as { failures: 50%, of: 20, open: 30s }',
  properties: {
    ...failedAttempts,
    open: durationSchema('How long no execution starts'),
    key: expressionSchema(
      'CEL expression over payload, artifact and inputs; each key has its own breaker; default: all executions share one',
    ),
  },
};

/**
 * The schema of an agent in the file or in `@Agent({...})`. `own` has the keys that only one of them has, all required, and
 * `more` those that it may have.
 */
function agentSchema(own: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    description: 'An agent: what triggers it, what it publishes, how it works',
    type: 'object',
    additionalProperties: false,
    required: [...Object.keys(own), 'consumes'],
    objectMessage: `must be an object with ${[...Object.keys(own), 'consumes'].join(' and ')}`,
    properties: {
      ...own,
      description: { type: 'string' },
      labels: texts('Labels that Labelled visibility may require'),
      tenant_id: {
        description: 'The tenant that the agent belongs to, for Tenant visibility',
        type: 'string',
        minLength: 1,
      },
      consumes: {
        description: 'Subscriptions',
        type: 'array',
        minItems: 1,
        items: subscriptionSchema,
        errorMessage: 'must be a list of one or more subscriptions, such as [{ types: [CustomerMessage] }]',
      },
      publishes: {
        description: 'Outputs',
        type: 'array',
        items: outputSchema,
        errorMessage: 'must be a list such as [{ type: Reply }]',
      },
      timeout: durationSchema('Time limit of one attempt', '60s'),
      concurrency: {
        description: 'Executions that may run at the same time, over all processes',
        type: 'integer',
        minimum: 1,
        maximum: 10_000,
        default: 10,
      },
      limits: limitUsesSchema,
      fair_by: expressionSchema(
        'CEL expression over payload, artifact and inputs; executions with different keys take turns',
      ),
      weight: expressionSchema(
        'CEL expression over payload, artifact and inputs: how many turns a key of fair_by has for each turn of others; default: 1',
      ),
      max_share: {
        description: 'Share of max_pending_executions that one key of fair_by may have waiting',
        type: ['number', 'string'],
        exclusiveMinimum: 0,
        maximum: 1,
        pattern: SHARE_PATTERN,
        errorMessage: 'must be a share such as 50%, from 1% to 100%, or a number above 0 and at most 1',
        default: 0.5,
      },
      cancel_on: cancelOnSchema,
      cache: cacheSchema,
      singleton: singletonSchema,
      breaker: breakerSchema,
      retry: retrySchema,
      budget: budgetSchema(
        'Maximum model usage of the agent in one correlation; exceeding it ends the correlation with a WorkflowError',
      ),
      ...more,
    },
  };
}

const typeSchema: JsonObject = {
  description: 'An artifact type: what its payloads look like',
  type: 'object',
  additionalProperties: false,
  objectMessage: 'must be an object such as { version: 1, schema: { type: object } }',
  properties: {
    version: {
      description: 'Increase it when the form of the payload changes',
      type: 'integer',
      minimum: 1,
      default: 1,
    },
    description: { type: 'string' },
    retain: durationSchema('Artifacts are deleted when they are older than this and no longer needed; default: never'),
    schema: {
      description: 'JSON Schema of the payload (draft 2020-12, or draft-07 if $schema says so)',
      type: 'object',
      objectMessage: 'must be an object with JSON Schema, such as { type: object }',
    },
    defaults: {
      description: 'Whether absent properties of a payload get the `default` of their schema',
      type: 'boolean',
      default: false,
    },
  },
};

/**
 * The JSON Schema of the configuration file, for editors and for the loader. It uses draft-07, because the YAML support
 * of editors does not handle newer drafts well.
 */
export function configurationSchema(engines: readonly EngineKind[], serverSchema: JsonObject): JsonObject {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Starling configuration',
    type: 'object',
    additionalProperties: false,
    objectMessage: 'must contain an object with keys such as agents, types and server; types: {} is enough',
    properties: {
      server: {
        description: 'Settings of the service; flags and environment variables take precedence',
        objectMessage: 'must be an object such as { port: 8344 }',
        ...serverSchema,
      },
      types: {
        description: 'Artifact types by name; a type that only agents mention needs no entry and accepts any object',
        type: 'object',
        objectMessage: 'must be an object of types by their names, such as { Ticket: { version: 1 } }',
        propertyNames: nameSchema,
        additionalProperties: typeSchema,
      },
      models: modelsSchema,
      budget: budgetSchema(
        'Maximum model usage of one correlation; exceeding it ends the correlation with a WorkflowError',
      ),
      agents: {
        description: 'Agents by name',
        type: 'object',
        objectMessage: 'must be an object of agents by their names, each with consumes and engine',
        propertyNames: nameSchema,
        additionalProperties: agentSchema({ engine: engineSchema(engines) }, rampSchema(engines)),
      },
      limits: {
        description: 'Limits by name, which agents share',
        type: 'object',
        objectMessage: 'must be an object of limits by their names, such as { openai: { concurrency: 20 } }',
        propertyNames: nameSchema,
        additionalProperties: limitSchema,
      },
      schedules: {
        description: 'Schedules by name',
        type: 'object',
        propertyNames: nameSchema,
        additionalProperties: scheduleSchema,
      },
    },
  };
}

/** The schema of the options of `@Agent({...})`: an agent with a name, whose class is the engine. */
export const classAgentSchema: JsonObject = agentSchema({ name: nameSchema });

/** Options of an engine that a share of the correlations tries, and when that ends. */
function rampSchema(engines: readonly EngineKind[]): JsonObject {
  const options = engines.map(({ optionsSchema }) => (optionsSchema.properties ?? {}) as JsonObject);
  const overridable = OVERRIDABLE.flatMap((option) => {
    const schema = options.find((each) => Object.hasOwn(each, option))?.[option];
    return schema === undefined ? [] : [[option, schema]];
  });
  return {
    variants: {
      description:
        'Other options of the engine by name, each for a share of the correlations; the others use those of the engine',
      type: 'object',
      propertyNames: nameSchema,
      objectMessage: 'must be an object such as { short: { share: 10%, instructions: Answer in one sentence. } }',
      additionalProperties: {
        description: 'Options that replace those of the engine, for a share of the correlations',
        type: 'object',
        additionalProperties: false,
        required: ['share'],
        objectMessage: 'must be an object such as { share: 10%, instructions: Answer in one sentence. }',
        properties: {
          share: {
            description: 'Its share of the correlations',
            type: 'string',
            pattern: '^(\\d{1,2}(\\.\\d{1,2})?|100)%$',
            errorMessage: 'must be a share such as 10% or 2.5%, from 0% to 100%',
          },
          ...(Object.fromEntries(overridable) as JsonObject),
        },
      },
    },
    rollback: {
      description: 'A variant is used no more when too many of its last attempts have failed, until variants changes',
      type: 'object',
      additionalProperties: false,
      required: ['failures', 'of'],
      objectMessage: 'must be an object such as { failures: 5%, of: 200 }',
      properties: failedAttempts,
    },
  };
}

function engineSchema(engines: readonly EngineKind[]): JsonObject {
  return {
    description: 'How the agent turns input artifacts into outputs',
    type: 'object',
    required: ['kind'],
    objectMessage: 'must be an object such as { kind: function, module: ./agent.ts }',
    properties: { kind: { enum: engines.map(({ kind }) => kind) } },
    allOf: engines.map(({ kind, optionsSchema }) => ({
      if: { type: 'object', required: ['kind'], properties: { kind: { const: kind } } },
      then: optionsSchema,
    })),
  };
}
