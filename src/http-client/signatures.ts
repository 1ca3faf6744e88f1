import { createHmac } from 'node:crypto';

import { Webhook } from 'standardwebhooks';

export interface SignedContent {
  /** `webhook-id`. */
  id: string;
  /** Time of this try (epoch ms). */
  sentAt: number;
  body: string;
}

const ENCODED = 'whsec_';

/**
 * The headers of a delivery (Standard Webhooks, "Webhook headers" and "Signature scheme"). There is one signature for
 * each secret, so that receivers can change from one secret to the other. `X-Flock-Signature` has a single value, made
 * with the first secret.
 */
export function webhookHeaders(
  secrets: readonly string[],
  { id, sentAt, body }: SignedContent,
): Record<string, string> {
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(Math.floor(sentAt / 1_000)) };
  const [first] = secrets;
  if (first === undefined) return headers;
  const signatures = secrets.map((secret) => signer(secret).sign(id, new Date(sentAt), body));
  return {
    ...headers,
    'webhook-signature': signatures.join(' '),
    'x-flock-signature': `sha256=${createHmac('sha256', first).update(body).digest('hex')}`,
  };
}

/** A secret with the prefix `whsec_` is base64; any other secret is used as its UTF-8 bytes (docs/webhooks.md). */
const signer = (secret: string): Webhook =>
  secret.startsWith(ENCODED) ? new Webhook(secret) : new Webhook(Buffer.from(secret, 'utf8'), { format: 'raw' });
