import type { JsonObject } from '../../common/json.js';
import { parseDuration } from '../../common/units.js';
import { PatternBudget } from '../../patterns/pattern-work.js';
import type { ConfigurationOptions, Remaining } from '../agent-options.js';
import { type AgentDefinition, type ArtifactType, WORKFLOW_ERROR } from '../definitions.js';
import type { Diagnostics, Path, Report } from '../diagnostics.js';
import { GrowthLimit } from '../growth-limit.js';
import { declaredType, openType, workflowErrorType } from '../schemas/artifact-type.js';
import { authorProblems } from '../schemas/author-problems.js';
import { compilePayloadSchema, type SchemaLookup } from '../schemas/payload-schema.js';
import { SchemaDefaults } from '../schemas/schema-defaults.js';
import type { SchemaError } from '../schemas/schema-errors.js';
import { placesOf } from '../schemas/schema-places.js';
import { checkDuration } from './duration-keys.js';

type Declarations = NonNullable<Remaining<ConfigurationOptions>['types']>;

/**
 * Returns all types: declared ones, those that only agents mention, and WorkflowError. `bodyLimitBytes` is null if the
 * setting is not valid.
 */
export function artifactTypes(
  declarations: Declarations,
  agents: readonly AgentDefinition[],
  bodyLimitBytes: number | null,
  report: Report,
): ArtifactType[] {
  const types = new Map<string, ArtifactType>();
  const budget = new PatternBudget();
  for (const [name, declaration] of Object.entries(declarations))
    types.set(name, declare(name, declaration ?? {}, { budget, bodyLimitBytes }, report));
  if (!types.has(WORKFLOW_ERROR)) types.set(WORKFLOW_ERROR, workflowErrorType(null));
  for (const name of agents.flatMap(mentionedTypes)) {
    if (!types.has(name)) types.set(name, openType(name));
  }
  return [...types.values()];
}

interface Limits {
  budget: PatternBudget;
  bodyLimitBytes: number | null;
}

function declare(
  name: string,
  declaration: NonNullable<Declarations[string]>,
  { budget, bodyLimitBytes }: Limits,
  { errors, warnings }: Report,
): ArtifactType {
  const { version = 1, description = '', schema, retain, defaults: hasDefaults = false } = declaration;
  checkDuration(retain, ['types', name, 'retain'], errors);
  const declared = { name, version, description, retainMs: retain === undefined ? null : parseDuration(retain) };
  if (name === WORKFLOW_ERROR) return declareWorkflowError(declaration, declared.retainMs, errors);
  if (schema === undefined) {
    if (hasDefaults) errors.add(['types', name, 'defaults'], NO_DEFAULT);
    return openType(name, declared);
  }
  const at = ['types', name, 'schema'];
  const compiled = compilePayloadSchema(schema, budget);
  if ('errors' in compiled) {
    addProblems(compiled.errors, at, errors);
    return openType(name, declared);
  }
  for (const { path, message, warning } of authorProblems(schema, compiled.lookup))
    (warning ? warnings : errors).add([...at, ...path], message);
  const defaults = hasDefaults ? new SchemaDefaults(schema, compiled.lookup) : null;
  if (defaults?.list.length === 0) errors.add(['types', name, 'defaults'], NO_DEFAULT);
  if (defaults && bodyLimitBytes !== null)
    addProblems(defaultProblems(schema, defaults, compiled.lookup, bodyLimitBytes), at, errors);
  return declaredType({ ...declared, schema }, compiled.validate, defaults);
}

const NO_DEFAULT = 'has no effect, because the schema has no default that can be filled in; remove it or add one';

function addProblems(problems: readonly SchemaError[], at: Path, errors: Diagnostics): void {
  for (const { path, message } of problems) errors.add([...at, ...path], message);
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
  ...(agent.cancelOn?.types ?? []),
];

/** Returns the problems of defaults that never end, add too much, or are not valid where they are filled in. */
function defaultProblems(
  schema: JsonObject,
  defaults: SchemaDefaults,
  lookup: SchemaLookup,
  bodyLimitBytes: number,
): SchemaError[] {
  const bySchema = new Map(defaults.list.map((each) => [each.schema, each]));
  return placesOf(schema, [...bySchema.keys()]).flatMap((place) => {
    const completed = defaults.complete(bySchema.get(place.schema)!, new GrowthLimit(bodyLimitBytes));
    const problems =
      'problem' in completed
        ? [{ path: [], message: completed.problem }]
        : lookup.violations(place.path, completed.value);
    return problems.map(({ path, message }) => ({ path: [...place.path, 'default', ...path], message }));
  });
}
