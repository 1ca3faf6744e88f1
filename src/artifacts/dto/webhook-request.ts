import { ApiProperty } from '@nestjs/swagger';
import { IsString, ValidateBy } from 'class-validator';
import { isWebhookSecret, WEBHOOK_SECRET_RULE } from '../../common/webhook-secret.js';
import { IfGiven } from '../../http/if-given.js';

/** Where the artifacts of a publish's correlation are announced. */
export class WebhookRequest {
  @ApiProperty({ description: 'An http or https URL of a public address, or of one that the operator allows', maxLength: 2_048, example: 'https://hooks.example.com/starling' })
  @IsString()
  url!: string;

  @ApiProperty({
    description: 'Signs what is sent: the key itself, or whsec_ and the key in base64. Never shown again',
    type: String,
    required: false,
    minLength: 16,
    maxLength: 256,
    writeOnly: true,
    example: 'whsec_plJ3nmyCDGBKInavdOK15jsl',
  })
  @IfGiven()
  @ValidateBy({ name: 'isWebhookSecret', validator: { validate: isWebhookSecret, defaultMessage: () => `$property must be ${WEBHOOK_SECRET_RULE}` } })
  secret?: string;
}
