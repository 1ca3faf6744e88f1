import { ApiProperty } from '@nestjs/swagger';
import { IsString, ValidateBy } from 'class-validator';

import { isWebhookSecret, SECRET_LENGTH, SECRET_PATTERN, WEBHOOK_SECRET_RULE } from '../../../common/webhook-secret.js';
import { IfGiven } from '../../../http/validation/if-given.js';
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
