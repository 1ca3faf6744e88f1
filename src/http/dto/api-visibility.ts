import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { MAX_VISIBILITY_NAMES } from '../../catalog/given-visibility.js';

const names = { type: 'array', maxItems: MAX_VISIBILITY_NAMES, items: { type: 'string', minLength: 1, maxLength: 255 } } as const;

const kindSchema = (kind: string, properties: object = {}, required: string[] = []) => ({
  type: 'object' as const,
  required: ['kind', ...required],
  properties: { kind: { type: 'string', enum: [kind] }, ...properties },
});

const lastingSchemas = [
  kindSchema('Public'),
  kindSchema('Private', { agents: names }, ['agents']),
  kindSchema('Labelled', { required_labels: names }, ['required_labels']),
  kindSchema('Tenant', { tenant_id: { type: 'string', nullable: true, minLength: 1, maxLength: 255 } }),
];

const after = kindSchema('After', { ttl: { type: 'string', example: 'PT1H' }, then: { oneOf: lastingSchemas } }, ['ttl']);

/** A visibility object in the OpenAPI document. */
export const ApiVisibility = (options: ApiPropertyOptions = {}): PropertyDecorator =>
  ApiProperty({
    description:
      'Which agents may see it: everyone (`Public`), those named (`Private`), those with all labels (`Labelled`), those of a ' +
      'tenant (`Tenant`; null: everyone), or nobody until `ttl` after its creation and then whom `then` says (`After`).',
    example: { kind: 'Public' },
    ...options,
    oneOf: [...lastingSchemas, after],
  } as ApiPropertyOptions);
