import type { Schemas } from '../../api/requests';

type Agent = Schemas['AgentBody'];
type ArtifactType = Schemas['ArtifactTypeBody'];

/** The type whose fields are the inputs of a row: a join takes an object with a payload for each of its types. */
export function inputType(agent: Agent | undefined, types: readonly ArtifactType[]): ArtifactType | undefined {
  const name = agent?.subscriptions.find((subscription) => subscription.types.length === 1)?.types[0];
  return types.find((type) => type.name === name);
}

/** The names of a type's fields. */
export const fieldsOf = (type: ArtifactType | undefined): string[] => Object.keys(propertiesOf(type));

/** The names of the fields that a payload must have. */
export function requiredOf(type: ArtifactType | undefined): string[] {
  const required = type?.schema?.['required'];
  return Array.isArray(required) ? (required as string[]) : [];
}

function propertiesOf(type: ArtifactType | undefined): object {
  const properties = type?.schema?.['properties'];
  return typeof properties === 'object' && properties !== null ? properties : {};
}

/**
 * The input that each column becomes: the field with its name, or none. If no column has the name of a field, each
 * column becomes an input with its own name.
 */
export function inputsFor(columns: readonly string[], fields: readonly string[]): Record<string, string> {
  const byName = new Map(fields.map((field) => [field.toLowerCase(), field]));
  const found = columns.map((column) => [column, byName.get(column.trim().toLowerCase()) ?? ''] as const);
  if (found.every(([, field]) => field === '')) return Object.fromEntries(columns.map((column) => [column, column]));
  return Object.fromEntries(found);
}
