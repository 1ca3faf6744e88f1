import { createHash } from 'node:crypto';

import { isJoin, type Triggered } from '../matching/matcher.js';
import { keyIn, type KeyOwner, keyWithoutReplay } from '../matching/replay-keys.js';
import type { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import type { SubscriptionPlace } from '../matching/subscription-rows.js';

/** Groups with the same key wait for the same artifacts, one after another. */
export interface GroupKey extends SubscriptionPlace {
  /** The value of `join.by` as JSON, or `WINDOW_KEY`, as `keyIn` returns it. */
  key: string;
}

/**
 * The key of batch windows, because a subscription fills one window at a time. A join's key is JSON and never empty.
 */
export const WINDOW_KEY = '';

export const isWindow = ({ key }: Pick<GroupKey, 'key'>): boolean => keyWithoutReplay(key) === WINDOW_KEY;

const LONGEST_KEY = 200;

/** Keys are stored and indexed, so a long one is replaced by its digest. */
export const boundedKey = (key: string): string =>
  key.length <= LONGEST_KEY ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;

/** The name that a transaction locks before it changes the groups of one key, so that these changes happen in order. */
export const lockKeyOf = ({ agent, subscription, key }: GroupKey): string =>
  `join ${JSON.stringify([agent, subscription, key])}`;

/** The names that a transaction locks before it adds an artifact to the joins and windows that it triggers. */
export const lockKeysOf = (triggered: readonly Triggered[], owner: KeyOwner, numbers: SubscriptionNumbers): string[] =>
  triggered.flatMap(({ subscription, key }) => {
    if (!subscription.batch && !isJoin(subscription)) return [];
    return [
      lockKeyOf({
        agent: subscription.agent,
        subscription: numbers.of(subscription),
        key: keyIn(owner, subscription.batch ? WINDOW_KEY : boundedKey(key)),
      }),
    ];
  });
