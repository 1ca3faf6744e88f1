type SchemaRules = Record<string, unknown>;

const partsByName = new Map<string, SchemaRules>();

/**
 * Adds rules about several fields to the OpenAPI schema of a class. Each decorator of @nestjs/swagger describes only
 * one field.
 */
export const SchemaPart =
  (rules: SchemaRules): ClassDecorator =>
  ({ name }) =>
    void partsByName.set(name, rules);

/** Schema rules by class name. */
export const schemaParts = (): ReadonlyMap<string, SchemaRules> => partsByName;
