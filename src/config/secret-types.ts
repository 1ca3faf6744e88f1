import { isWebhookSecret, WEBHOOK_SECRET_RULE } from '../common/webhook-secret.js';
import { listOf, matching, type SettingType } from './setting-types.js';

const MOST_SECRETS = 2;

/**
 * No secret, one, or two while receivers change from one to the other. A comma separates them, so a secret has none.
 */
export function webhookSecrets(): SettingType<string[]> {
  const secret: SettingType<string> = {
    placeholder: 'secret',
    expected: WEBHOOK_SECRET_RULE,
    schema: { type: 'string', minLength: 16, maxLength: 256 },
    parse: (raw) => (isWebhookSecret(raw) ? { value: raw } : { wrong: raw }),
  };
  const list = listOf(secret, `${WEBHOOK_SECRET_RULE}, or two of them`);
  return {
    ...list,
    schema: { ...list.schema, pattern: '^$|.{16}', maxItems: MOST_SECRETS },
    parse: (raw) => {
      const result = list.parse(raw);
      return 'value' in result && result.value.length > MOST_SECRETS ? { wrong: raw } : result;
    },
  };
}

export function secretKey(): SettingType<string> {
  return matching({
    placeholder: 'key',
    expected: '64 hexadecimal digits, for example from openssl rand -hex 32',
    pattern: '^[0-9A-Fa-f]{64}$',
  });
}
