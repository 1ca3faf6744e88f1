import type * as swagger from '@nestjs/swagger';

type Swagger = typeof swagger;
type AppliedDecorator = (...target: unknown[]) => void;

const waiting: ((loaded: Swagger) => void)[] = [];

/**
 * A decorator of @nestjs/swagger that is applied by `loadSwagger`. The package and what it imports are 530 modules. Only the
 * OpenAPI document needs them, and most processes are never asked for it.
 */
const later = <Name extends keyof Swagger>(name: Name): Swagger[Name] => {
  const decorator =
    (...options: unknown[]): AppliedDecorator =>
    (...target) => {
      waiting.push((loaded) => {
        const original = loaded[name] as unknown as (...given: unknown[]) => AppliedDecorator;
        original(...options)(...target);
      });
    };
  return decorator as unknown as Swagger[Name];
};

export const ApiAcceptedResponse = later('ApiAcceptedResponse');
export const ApiBody = later('ApiBody');
export const ApiExcludeController = later('ApiExcludeController');
export const ApiExtension = later('ApiExtension');
export const ApiExtraModels = later('ApiExtraModels');
export const ApiHeader = later('ApiHeader');
export const ApiOkResponse = later('ApiOkResponse');
export const ApiOperation = later('ApiOperation');
export const ApiParam = later('ApiParam');
export const ApiProduces = later('ApiProduces');
export const ApiProperty = later('ApiProperty');
export const ApiPropertyOptional = later('ApiPropertyOptional');
export const ApiResponse = later('ApiResponse');
export const ApiServiceUnavailableResponse = later('ApiServiceUnavailableResponse');
export const ApiTags = later('ApiTags');

/** Returns the place of a schema in the document. `model` is the schema's name, or the class that it describes. */
export const schemaPath = (model: string | { name: string }): string =>
  `#/components/schemas/${typeof model === 'string' ? model : model.name}`;

/** Loads @nestjs/swagger and applies all decorators so far, in their order. */
export async function loadSwagger(): Promise<Swagger> {
  const loaded = await import('@nestjs/swagger');
  for (const apply of waiting.splice(0)) apply(loaded);
  return loaded;
}
