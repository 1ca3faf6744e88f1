/** The parts of an OpenAPI document that the tests read. */
export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema; examples?: Record<string, { value: unknown }> }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
}

export interface Schema {
  $ref?: string;
  oneOf?: Schema[];
  allOf?: Schema[];
  /** Beside properties: says which of them are required. Otherwise: schemas, one of which a value fits. */
  anyOf?: Schema[];
  enum?: string[];
  type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  nullable?: boolean;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  example?: unknown;
}

/** One route, as the document describes it. */
export interface Route extends Operation {
  method: string;
  /** Its pattern, such as `/api/v1/artifacts/{artifact_id}`. */
  path: string;
}

export const routesOf = (document: ApiDocument): Route[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );

/** Returns the schema that a reference points to, or the schema itself. */
export function resolved(schema: Schema, document: ApiDocument): Schema {
  if (schema.$ref === undefined) return schema;
  return resolved(document.components.schemas[schema.$ref.split('/').at(-1)!]!, document);
}
