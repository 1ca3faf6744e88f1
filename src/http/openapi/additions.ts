import { ApiExtension, schemaPath } from './documentation.js';

const FORM = 'x-form';

interface Form {
  schema: object;
  encoding?: Record<string, { contentType: string }>;
}

/**
 * Documents the multipart/form-data body of a route that also takes JSON. @nestjs/swagger has one schema for all media
 * types.
 */
export const ApiForm = (form: Form): MethodDecorator => ApiExtension(FORM, form);

/** Moves the form of an operation in the OpenAPI document to its body. */
export function placeForm(operation: object): void {
  const { [FORM]: form, requestBody } = operation as {
    [FORM]?: Form;
    requestBody?: { content: Record<string, object> };
  };
  if (!form) return;
  delete (operation as { [FORM]?: Form })[FORM];
  requestBody!.content['multipart/form-data'] = form;
}

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

const namedSchemas = new Map<string, object>();

/**
 * Names a schema that no class stands for, and returns a reference to it. Generators make one type of it, where an inlined
 * schema would become a type with a made-up name at each of its places.
 */
export function namedSchema(name: string, schema: object): { $ref: string } {
  namedSchemas.set(name, schema);
  return { $ref: schemaPath(name) };
}

/** Named schemas by name, in the order of the names: files are loaded in different orders. */
export const schemasByName = (): ReadonlyMap<string, object> =>
  new Map([...namedSchemas].sort(([one], [other]) => (one < other ? -1 : 1)));

/** Schema rules by class name. */
export const schemaParts = (): ReadonlyMap<string, SchemaRules> => partsByName;
