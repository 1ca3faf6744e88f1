import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsObject, IsString, MaxLength, ValidateIf, ValidateNested } from 'class-validator';

import type { JsonObject } from '../../../common/json.js';
import { MAX_SHORT_TEXT } from '../../../common/short-text.js';
import { ApiVisibility } from '../../../http/dto/api-visibility.js';
import { Deadline } from '../../../http/dto/deadline.js';
import { IfGiven } from '../../../http/validation/if-given.js';
import { IsShortText, SHORT_TEXT_SCHEMA } from '../../../http/validation/is-short-text.js';
import { Opaque } from '../../../http/validation/opaque.js';
import { IsVisibility } from './is-visibility.js';
import { WebhookRequest } from './webhook-request.js';

const MAX_TAGS = 100;

/** Body of a publish. */
export class PublishRequest {
  @ApiProperty({
    description: 'Name of an artifact type that the configuration knows',
    maxLength: MAX_SHORT_TEXT,
    example: 'CustomerMessage',
  })
  @IsString()
  @MaxLength(MAX_SHORT_TEXT)
  type!: string;

  @ApiProperty({
    description: "The artifact's data; it must match the JSON Schema of the type",
    type: 'object',
    additionalProperties: true,
    selfRequired: false,
    default: {},
    example: { text: 'My card has not arrived yet' },
  })
  @IfGiven()
  @IsObject()
  @Opaque()
  payload?: JsonObject;

  @ApiProperty({
    description: 'Tags that subscriptions and queries can filter by; duplicates are dropped',
    type: 'array',
    items: SHORT_TEXT_SCHEMA,
    required: false,
    maxItems: MAX_TAGS,
    example: ['channel:chat'],
  })
  @IfGiven()
  @IsArray()
  @ArrayMaxSize(MAX_TAGS)
  @IsShortText({ each: true })
  tags?: string[];

  @ApiProperty({
    description: "The caller's partition of the data; agents receive it",
    ...SHORT_TEXT_SCHEMA,
    required: false,
    nullable: true,
    example: 'tenant-7',
  })
  @ValidateIf((_body, value) => value !== undefined && value !== null)
  @IsShortText()
  partition_key?: string | null;

  @ApiVisibility({ required: false, default: { kind: 'Public' } })
  @IfGiven()
  @IsVisibility()
  visibility?: JsonObject;

  @Deadline()
  deadline?: string;

  @ApiProperty({
    description:
      'A webhook for every artifact of this correlation from now on, in addition to earlier ones of the correlation',
    type: () => WebhookRequest,
    required: false,
  })
  @IfGiven()
  @IsObject()
  @ValidateNested()
  @Type(() => WebhookRequest)
  webhook?: WebhookRequest;
}

/** A minimal publish. Without it, Swagger UI would generate an example that sets every optional field. */
export const PUBLISH_EXAMPLE = { type: 'CustomerMessage', payload: { text: 'My card has not arrived yet' } };
