import { declaredType, openType, workflowErrorType } from './artifact-type.js';
import type { ConfigurationOptions, Remaining } from './agent-options.js';
import { WORKFLOW_ERROR, type AgentDefinition, type ArtifactType } from './definitions.js';
import type { Findings } from './mistakes.js';
import { compilePayloadSchema } from './payload-schema.js';

type Declarations = NonNullable<Remaining<ConfigurationOptions>['types']>;

/** Every type that the service knows: those that are declared, those that agents only mention, and WorkflowError. */
export function artifactTypes(declarations: Declarations, agents: readonly AgentDefinition[], mistakes: Findings): ArtifactType[] {
  const types = new Map<string, ArtifactType>();
  for (const [name, declaration] of Object.entries(declarations)) types.set(name, declare(name, declaration ?? {}, mistakes));
  types.set(WORKFLOW_ERROR, workflowErrorType());
  for (const name of agents.flatMap(mentionedTypes)) {
    if (!types.has(name)) types.set(name, openType(name));
  }
  return [...types.values()];
}

function declare(name: string, declaration: NonNullable<Declarations[string]>, mistakes: Findings): ArtifactType {
  const { version = 1, description = '', schema } = declaration;
  if (name === WORKFLOW_ERROR) mistakes.add(['types', name], 'is always known and published by the service alone; choose another name');
  if (schema === undefined) return openType(name, version, description);
  const compiled = compilePayloadSchema(schema);
  if ('validate' in compiled) return declaredType({ name, version, description, schema }, compiled.validate);
  for (const { path, message } of compiled.mistakes) mistakes.add(['types', name, 'schema', ...path], message);
  return openType(name, version, description);
}

const mentionedTypes = (agent: AgentDefinition): string[] => [
  ...agent.subscriptions.flatMap(({ types }) => types),
  ...agent.outputs.map(({ type }) => type),
];
