import { applyDecorators } from '@nestjs/common';
import { Type } from 'class-transformer';

import { describeVisibilityProblem, findVisibilityProblem } from '../../../catalog/parse-visibility.js';
import type { JsonObject } from '../../../common/json.js';
import { MAX_SHORT_TEXT } from '../../../common/short-text.js';
import { isWebhookSecret, SECRET_LENGTH, SECRET_PATTERN, WEBHOOK_SECRET_RULE } from '../../../common/webhook-secret.js';
import { ApiVisibility } from '../../../http/dto/api-visibility.js';
import { Deadline } from '../../../http/dto/deadline.js';
import { PAYLOAD } from '../../../http/dto/payload.js';
import { ApiProperty, schemaPath } from '../../../http/openapi/documentation.js';
import {
  ArrayMaxSize,
  IsArray,
  IsObject,
  IsOptional,
  IsString,
  MaxLength,
  ValidateBy,
  ValidateNested,
} from '../../../http/validation/class-validator.js';
import { IfGiven, Opaque } from '../../../http/validation/field-rules.js';
import { IsShortText, SHORT_TEXT_SCHEMA } from '../../../http/validation/text-rules.js';
import { LONGEST_URL } from '../../../http-client/address-rules.js';

/** Checks the form alone. Whether the address is allowed is checked when the webhook is stored. */
const URL_PATTERN = '^https?://[^/?#@%\\s]+([/?#]\\S*)?$';

/** A webhook that receives the artifacts of a publish's correlation. */
export class WebhookRequest {
  @ApiProperty({
    description:
      'An http or https URL without user and password, to a public address or one that the operator allows. ' +
      'The settings `client_webhooks` and `client_webhook_ports` may restrict it further',
    format: 'uri',
    pattern: URL_PATTERN,
    maxLength: LONGEST_URL,
    example: 'https://hooks.example.com/starling',
  })
  @IsString()
  url!: string;

  @ApiProperty({
    description: 'The key that signs deliveries: plain text, or whsec_ and the key in base64. It is never shown again',
    type: String,
    required: false,
    minLength: SECRET_LENGTH.min,
    maxLength: SECRET_LENGTH.max,
    pattern: SECRET_PATTERN,
    writeOnly: true,
    example: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
  })
  @IfGiven()
  @ValidateBy({
    name: 'isWebhookSecret',
    validator: { validate: isWebhookSecret, defaultMessage: () => `$property must be ${WEBHOOK_SECRET_RULE}` },
  })
  secret?: string;
}

const IsVisibility = (): PropertyDecorator =>
  applyDecorators(
    Opaque(),
    ValidateBy({
      name: 'isVisibility',
      validator: {
        validate: (value) => findVisibilityProblem(value) === null,
        defaultMessage: (args) => describeVisibilityProblem(findVisibilityProblem(args?.value)!),
      },
    }),
  );

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
    description: "The artifact's data; it must match the JSON Schema of the type. `{}` if absent",
    allOf: [{ $ref: schemaPath(PAYLOAD) }],
    required: false,
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
  @IsOptional()
  @IsShortText()
  partition_key?: string | null;

  @ApiVisibility({ required: false })
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

export class AcceptedBody {
  @ApiProperty({ enum: ['accepted'], description: 'The artifact and every execution that it triggers are stored' })
  status!: 'accepted';
}
