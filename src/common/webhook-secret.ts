const ENCODED = 'whsec_';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** What a secret that signs webhooks has to be, completing "must be ..." (wire-decisions.md, "Webhooks"). */
export const WEBHOOK_SECRET_RULE = `a text of 16 to 256 characters, and base64 where it begins with ${ENCODED}`;

export function isWebhookSecret(value: unknown): value is string {
  if (typeof value !== 'string' || value.length < 16 || value.length > 256) return false;
  return !value.startsWith(ENCODED) || BASE64.test(value.slice(ENCODED.length));
}
