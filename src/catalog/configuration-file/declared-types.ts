import { parseDuration } from '../../common/units.js';
import { PatternBudget } from '../../patterns/pattern-work.js';
import type { ConfigurationOptions, Remaining } from '../agent-options.js';
import { type AgentDefinition, type ArtifactType, WORKFLOW_ERROR } from '../definitions.js';
import type { Diagnostics } from '../diagnostics.js';
import { declaredType, openType, workflowErrorType } from '../schemas/artifact-type.js';
import { compilePayloadSchema } from '../schemas/payload-schema.js';
import { checkDuration } from './duration-keys.js';

type Declarations = NonNullable<Remaining<ConfigurationOptions>['types']>;

/** Returns all types: declared ones, those that only agents mention, and WorkflowError. */
export function artifactTypes(
  declarations: Declarations,
  agents: readonly AgentDefinition[],
  errors: Diagnostics,
): ArtifactType[] {
  const types = new Map<string, ArtifactType>();
  const budget = new PatternBudget();
  for (const [name, declaration] of Object.entries(declarations))
    types.set(name, declare(name, declaration ?? {}, budget, errors));
  if (!types.has(WORKFLOW_ERROR)) types.set(WORKFLOW_ERROR, workflowErrorType(null));
  for (const name of agents.flatMap(mentionedTypes)) {
    if (!types.has(name)) types.set(name, openType(name));
  }
  return [...types.values()];
}

function declare(
  name: string,
  declaration: NonNullable<Declarations[string]>,
  budget: PatternBudget,
  errors: Diagnostics,
): ArtifactType {
  const { version = 1, description = '', schema, retain } = declaration;
  checkDuration(retain, ['types', name, 'retain'], errors);
  const declared = { name, version, description, retainMs: retain === undefined ? null : parseDuration(retain) };
  if (name === WORKFLOW_ERROR) return declareWorkflowError(declaration, declared.retainMs, errors);
  if (schema === undefined) return openType(name, declared);
  const compiled = compilePayloadSchema(schema, budget);
  if ('validate' in compiled) return declaredType({ ...declared, schema }, compiled.validate);
  for (const { path, message } of compiled.errors) errors.add(['types', name, 'schema', ...path], message);
  return openType(name, declared);
}

function declareWorkflowError(
  declaration: NonNullable<Declarations[string]>,
  retainMs: number | null,
  errors: Diagnostics,
): ArtifactType {
  const others = Object.keys(declaration).filter((key) => key !== 'retain');
  if (others.length > 0 || retainMs === null) {
    errors.add(
      ['types', WORKFLOW_ERROR],
      'is reserved for the service: set only its `retain`, or choose another name for your type',
    );
  }
  return workflowErrorType(retainMs);
}

const mentionedTypes = (agent: AgentDefinition): string[] => [
  ...agent.subscriptions.flatMap(({ types }) => types),
  ...agent.outputs.map(({ type }) => type),
];
