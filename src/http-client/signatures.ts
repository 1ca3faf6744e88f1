import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

export interface SignedContent {
  /** `webhook-id`. */
  id: string;
  /** When this try is made (epoch ms). */
  sentAt: number;
  body: string;
}

const ENCODED = 'whsec_';

/**
 * The headers of a delivery (Standard Webhooks, "Webhook headers" and "Signature scheme"): one signature for each secret, so that
 * receivers can change from one to the other. `X-Flock-Signature` holds one value, which is made with the first.
 */
export function webhookHeaders(secrets: readonly string[], { id, sentAt, body }: SignedContent): Record<string, string> {
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

/** `whsec_` announces base64; any other secret is its UTF-8 bytes (wire-decisions.md, "Webhooks"). */
const signer = (secret: string): Webhook =>
  secret.startsWith(ENCODED) ? new Webhook(secret) : new Webhook(Buffer.from(secret, 'utf8'), { format: 'raw' });
