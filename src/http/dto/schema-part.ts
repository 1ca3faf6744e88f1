type SchemaRules = Record<string, unknown>;

const partsByName = new Map<string, SchemaRules>();

/** Adds rules over several fields to the schema of a class in the OpenAPI document: the decorators of @nestjs/swagger describe one field each. */
export const SchemaPart =
  (rules: SchemaRules): ClassDecorator =>
  ({ name }) =>
    void partsByName.set(name, rules);

/** By the names of the classes. */
export const schemaParts = (): ReadonlyMap<string, SchemaRules> => partsByName;
