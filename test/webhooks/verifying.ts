import { createHmac } from 'node:crypto';

import { Webhook } from 'standardwebhooks';

import type { Received } from '../support/receiver.js';

/** Verifies as a receiver does with the package of Standard Webhooks; throws if the signature is wrong. */
export function verified(secret: string, { headers, body }: Received): { sequence: number; artifact: object } {
  const webhook = secret.startsWith('whsec_')
    ? new Webhook(secret)
    : new Webhook(Buffer.from(secret), { format: 'raw' });
  return webhook.verify(body, headers as Record<string, string>) as ReturnType<typeof verified>;
}

/** Verifies as Flock's receivers do. */
export const isValidForFlock = (secret: string, { headers, body }: Received): boolean =>
  headers['x-flock-signature'] === `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
