import { createHash } from 'node:crypto';

import { isJoin, type Triggered } from '../matching/matcher.js';
import type { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import { lockKeyOf, WINDOW_KEY } from './waiting-groups.js';

const LONGEST_KEY = 200;

/** Keys are stored and indexed, so a long one is replaced by its digest. */
export const boundedKey = (key: string): string =>
  key.length <= LONGEST_KEY ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;

/** The names that a transaction locks before it adds an artifact to the joins and windows that it triggers. */
export const lockKeysOf = (triggered: readonly Triggered[], numbers: SubscriptionNumbers): string[] =>
  triggered.flatMap(({ subscription, key }) => {
    if (!subscription.batch && !isJoin(subscription)) return [];
    return [
      lockKeyOf({
        agent: subscription.agent,
        subscription: numbers.of(subscription),
        key: subscription.batch ? WINDOW_KEY : boundedKey(key),
      }),
    ];
  });
