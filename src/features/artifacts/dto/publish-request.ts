import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsObject, IsString, MaxLength, ValidateIf, ValidateNested } from 'class-validator';
import type { JsonObject } from '../../../common/json.js';
import { MAX_SHORT_TEXT } from '../../../common/short-text.js';
import { ApiVisibility } from '../../../http/dto/api-visibility.js';
import { Deadline } from '../../../http/dto/deadline.js';
import { IfGiven } from '../../../http/validation/if-given.js';
import { Opaque } from '../../../http/validation/opaque.js';
import { IsShortText, SHORT_TEXT_SCHEMA } from '../../../http/validation/is-short-text.js';
import { IsVisibility } from './is-visibility.js';
import { WebhookRequest } from './webhook-request.js';

const MAX_TAGS = 100;

/** Body of a publish. */
export class PublishRequest {
  @ApiProperty({ description: 'Name of an artifact type that the configuration knows', maxLength: MAX_SHORT_TEXT, example: 'CustomerMessage' })
  @IsString()
  @MaxLength(MAX_SHORT_TEXT)
  type!: string;

  @ApiProperty({
    description: "The artifact's data; it has to fit the JSON Schema of its type",
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
    description: 'Marks that subscriptions and queries can ask for; one given twice counts once',
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
    description: "The caller's own partition of the data, handed on to agents",
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

  @ApiProperty({ description: 'Where every artifact of this correlation is announced from now on, besides where its earlier ones are', type: () => WebhookRequest, required: false })
  @IfGiven()
  @IsObject()
  @ValidateNested()
  @Type(() => WebhookRequest)
  webhook?: WebhookRequest;
}

/** As small as a publish can be; from the schema alone, documentation would make one that asks for everything. */
export const PUBLISH_EXAMPLE = { type: 'CustomerMessage', payload: { text: 'My card has not arrived yet' } };
