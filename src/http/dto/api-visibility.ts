import type { ApiPropertyOptions } from '@nestjs/swagger';

import { MAX_VISIBILITY_NAMES } from '../../catalog/parse-visibility.js';
import { DURATION_PATTERN } from '../../common/units.js';
import { namedSchema } from '../openapi/additions.js';
import { ApiProperty } from '../openapi/documentation.js';
import { SHORT_TEXT_SCHEMA } from '../validation/text-rules.js';

/** There is no `format: duration`, because in JSON Schema it excludes `1h`, weeks combined with days, and fractions. */
export const DURATION_SCHEMA = { type: 'string', pattern: DURATION_PATTERN } as const;

const names = (minItems: number) => ({
  type: 'array',
  minItems,
  maxItems: MAX_VISIBILITY_NAMES,
  items: SHORT_TEXT_SCHEMA,
});

const kindSchema = (kind: string, properties: object = {}, required: string[] = []): { $ref: string } =>
  namedSchema(`${kind}Visibility`, {
    type: 'object',
    required: ['kind', ...required],
    properties: { kind: { type: 'string', enum: [kind] }, ...properties },
    additionalProperties: false,
  });

/**
 * One of the kinds. There is no `discriminator`: the texts of `kind` tell the kinds apart, and openapi-typescript would take
 * `kind` from what refers to them.
 */
const oneOfKinds = (name: string, kinds: { $ref: string }[]): { $ref: string } => namedSchema(name, { oneOf: kinds });

const lastingKinds = [
  kindSchema('Public'),
  kindSchema('Private', { agents: names(0) }, ['agents']),
  kindSchema('Labelled', { required_labels: names(1) }, ['required_labels']),
  kindSchema('Tenant', { tenant_id: { ...SHORT_TEXT_SCHEMA, nullable: true } }, ['tenant_id']),
];

const after = kindSchema(
  'After',
  { ttl: { ...DURATION_SCHEMA, example: 'PT1H' }, then: oneOfKinds('LastingVisibility', lastingKinds) },
  ['ttl'],
);

const VISIBILITY = oneOfKinds('Visibility', [...lastingKinds, after]);

/** A visibility object in the OpenAPI document. */
export const ApiVisibility = (options: ApiPropertyOptions = {}): PropertyDecorator =>
  ApiProperty({
    description:
      'The agents that may see it: all (`Public`), the named ones (`Private`), those with all labels (`Labelled`), those of a ' +
      'tenant (`Tenant`; null: all), or none until `ttl` (at most `max_ttl`) after its creation and then those that `then` selects (`After`).',
    example: { kind: 'Public' },
    ...options,
    allOf: [VISIBILITY],
  } as ApiPropertyOptions);
