interface Property {
  description?: string;
  default?: unknown;
}

interface Schema {
  properties?: Record<string, Property>;
}

/**
 * Moves the defaults of the fields of bodies to their descriptions: generators for TypeScript require a field that has a
 * default, although the service fills it in.
 */
export const withDescribedDefaults = (schemas: Record<string, Schema>): Record<string, Schema> =>
  mapValues(schemas, (schema) =>
    schema.properties ? { ...schema, properties: mapValues(schema.properties, withDescribedDefault) } : schema,
  );

function withDescribedDefault(property: Property): Property {
  const { default: preset, ...rest } = property;
  if (preset === undefined) return property;
  return { ...rest, description: `${rest.description ?? ''} (default: ${JSON.stringify(preset)})`.trim() };
}

const mapValues = <T>(object: Record<string, T>, change: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
