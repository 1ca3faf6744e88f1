import type { JsonObject } from '../../common/json.js';
import { agentSchema, duration, nameSchema } from './agent-schema.js';
import { budgetSchema, modelsSchema } from '../costs.js';
import type { EngineKind } from './engine-kind.js';

const typeSchema: JsonObject = {
  description: 'An artifact type: what its payloads look like',
  type: 'object',
  additionalProperties: false,
  properties: {
    version: { description: 'Counts up when the payload changes its shape', type: 'integer', minimum: 1, default: 1 },
    description: { type: 'string' },
    retain: duration('Deleted when it is older than this, and nothing needs it any more; without it, kept for ever'),
    schema: { description: 'JSON Schema of the payload (draft 2020-12, or draft-07 where $schema says so)', type: 'object' },
  },
};

/**
 * The JSON Schema of the configuration file, for editors and for the loader alike. Draft-07, because editors' YAML support
 * knows no newer one well.
 */
export function configurationSchema(engines: readonly EngineKind[], serverSchema: JsonObject): JsonObject {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Starling configuration',
    type: 'object',
    additionalProperties: false,
    errorMessage: 'must hold an object with agents, types and server',
    properties: {
      server: { description: 'Settings of the service; flags and environment variables come before them', ...serverSchema },
      types: {
        description: 'Artifact types by name; a type that agents only mention needs no entry and takes any object',
        type: 'object',
        propertyNames: nameSchema,
        additionalProperties: typeSchema,
      },
      models: modelsSchema,
      budget: budgetSchema('What one correlation may use of models; one that overruns it ends, with a WorkflowError'),
      agents: {
        description: 'Agents by name',
        type: 'object',
        propertyNames: nameSchema,
        additionalProperties: agentSchema({ engine: engineSchema(engines) }),
      },
    },
  };
}

/** The schema of what stands in an `@Agent({...})`: an agent with its name inside, and its class as the engine. */
export const classAgentSchema: JsonObject = agentSchema({ name: nameSchema });

function engineSchema(engines: readonly EngineKind[]): JsonObject {
  return {
    description: 'How the agent turns input artifacts into outputs',
    type: 'object',
    required: ['kind'],
    errorMessage: 'must be an object such as { kind: function, module: ./agent.ts }',
    properties: { kind: { enum: engines.map(({ kind }) => kind) } },
    allOf: engines.map(({ kind, optionsSchema }) => ({
      if: { type: 'object', required: ['kind'], properties: { kind: { const: kind } } },
      then: optionsSchema,
    })),
  };
}
