const ENCODED = 'whsec_';
const BASE64 = '([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?';

export const SECRET_LENGTH = { min: 16, max: 256 } as const;

/**
 * Base64 after the prefix, or a text that differs from the prefix in one of its characters. Without lookahead, because
 * clients and tests generate values from it.
 */
export const SECRET_PATTERN = `^(${ENCODED}${BASE64}|${[...ENCODED].map((letter, at) => `${ENCODED.slice(0, at)}[^${letter}][\\s\\S]*`).join('|')})$`;

/** The rule for a secret that signs webhooks. Completes "must be ..." (docs/webhooks.md). */
export const WEBHOOK_SECRET_RULE = `a text of ${SECRET_LENGTH.min} to ${SECRET_LENGTH.max} characters, in base64 if it begins with ${ENCODED}`;

const SECRET = new RegExp(SECRET_PATTERN, 'u');

export function isWebhookSecret(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > 2 * SECRET_LENGTH.max) return false;
  // Counts code points, as JSON Schema does.
  const { length } = [...value];
  return length >= SECRET_LENGTH.min && length <= SECRET_LENGTH.max && SECRET.test(value);
}
