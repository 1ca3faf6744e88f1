import { isWebhookSecret, WEBHOOK_SECRET_RULE } from '../common/webhook-secret.js';
import { type Kind, listOf, matching } from './kinds.js';

const MOST_SECRETS = 2;

/** None, one, or two while receivers change from one to the other. A secret in text form holds no comma, which would part it. */
export function webhookSecrets(): Kind<string[]> {
  const secret: Kind<string> = {
    placeholder: 'secret',
    expected: WEBHOOK_SECRET_RULE,
    schema: { type: 'string', minLength: 16, maxLength: 256 },
    read: (raw) => (isWebhookSecret(raw) ? { value: raw } : { wrong: raw }),
  };
  const list = listOf(secret, `${WEBHOOK_SECRET_RULE}, or two of them`);
  return {
    ...list,
    schema: { ...list.schema, pattern: '^$|.{16}', maxItems: MOST_SECRETS },
    read: (raw) => {
      const reading = list.read(raw);
      return 'value' in reading && reading.value.length > MOST_SECRETS ? { wrong: raw } : reading;
    },
  };
}

export function secretKey(): Kind<string> {
  return matching({ placeholder: 'key', expected: '64 hexadecimal digits, as openssl rand -hex 32 makes them', pattern: '^[0-9A-Fa-f]{64}$' });
}
