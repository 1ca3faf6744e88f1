import type { OpenAPIObject } from '@nestjs/swagger';

type Schemas = Record<string, object>;

/**
 * Sets `additionalProperties: false` on the request bodies under `/api/v1` and on their nested objects. Changes `schemas`,
 * the components of the document.
 */
export function closeBodies(paths: OpenAPIObject['paths'], schemas: Schemas): void {
  const closed = new Set<string>();
  for (const [path, { post, put }] of Object.entries(paths))
    for (const operation of [post, put])
      if (path.startsWith('/api/v1/') && operation?.requestBody) closeAll(operation.requestBody, schemas, closed);
}

/** Closes every schema that `part` refers to, directly or through others. */
function closeAll(part: object, schemas: Schemas, closed: Set<string>): void {
  for (const [key, value] of Object.entries(part) as [string, unknown][]) {
    if (key === '$ref') close((value as string).split('/').at(-1)!, schemas, closed);
    else if (typeof value === 'object' && value !== null) closeAll(value, schemas, closed);
  }
}

function close(name: string, schemas: Schemas, closed: Set<string>): void {
  const schema = schemas[name];
  if (!schema || closed.has(name)) return;
  closed.add(name);
  schemas[name] = 'properties' in schema ? { ...schema, additionalProperties: false } : schema;
  closeAll(schema, schemas, closed);
}
