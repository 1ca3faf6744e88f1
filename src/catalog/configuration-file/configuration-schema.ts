import type { JsonObject } from '../../common/json.js';
import { budgetSchema, modelsSchema } from '../costs.js';
import { agentSchema, duration, nameSchema } from './agent-schema.js';
import type { EngineKind } from './engine-kind.js';

const typeSchema: JsonObject = {
  description: 'An artifact type: what its payloads look like',
  type: 'object',
  additionalProperties: false,
  properties: {
    version: {
      description: 'Increase it when the form of the payload changes',
      type: 'integer',
      minimum: 1,
      default: 1,
    },
    description: { type: 'string' },
    retain: duration('Artifacts are deleted when they are older than this and no longer needed; default: never'),
    schema: {
      description: 'JSON Schema of the payload (draft 2020-12, or draft-07 if $schema says so)',
      type: 'object',
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
    errorMessage: 'must contain an object with agents, types and server',
    properties: {
      server: {
        description: 'Settings of the service; flags and environment variables take precedence',
        ...serverSchema,
      },
      types: {
        description: 'Artifact types by name; a type that only agents mention needs no entry and accepts any object',
        type: 'object',
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
        propertyNames: nameSchema,
        additionalProperties: agentSchema({ engine: engineSchema(engines) }),
      },
    },
  };
}

/** The schema of the options of `@Agent({...})`: an agent with a name, whose class is the engine. */
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
