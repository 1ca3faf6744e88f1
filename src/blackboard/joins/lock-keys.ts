import { createHash } from 'node:crypto';

import { gathers, type Triggered } from '../matching/matcher.js';
import { keyIn, type KeyOwner, keyWithoutReplay } from '../matching/replay-keys.js';
import type { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import type { SubscriptionPlace } from '../matching/subscription-rows.js';

/** Groups with the same key wait for the same artifacts, one after another. */
export interface GroupKey extends SubscriptionPlace {
  /** The result of `groupKeyOf`, as `keyIn` returns it. */
  key: string;
}

/** The key of a subscription without `batch.key` or `debounce.key`, which fills one window at a time. A join's key is JSON and never empty. */
const ONLY_WINDOW = '';

/** Begins the keys of windows by `batch.key` or `debounce.key`. A join's key, JSON or a digest, begins with another letter. */
export const KEYED_WINDOW = 'window:';

export function isWindow({ key }: Pick<GroupKey, 'key'>): boolean {
  const own = keyWithoutReplay(key);
  return own === ONLY_WINDOW || own.startsWith(KEYED_WINDOW);
}

/** The key by which artifacts gather in a group, for people: JSON, or its digest. Null if a window takes all. */
export function shownKeyOf({ key }: Pick<GroupKey, 'key'>): string | null {
  const own = keyWithoutReplay(key);
  if (!isWindow({ key })) return own;
  return own === ONLY_WINDOW ? null : own.slice(KEYED_WINDOW.length);
}

const LONGEST_KEY = 200;

/** Keys are stored and indexed, so a long one is replaced by its digest. */
const boundedKey = (key: string): string =>
  key.length <= LONGEST_KEY ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;

/** The key of the join group or the window to which an artifact goes. */
export function groupKeyOf({ subscription: { batch, debounce }, key }: Triggered): string {
  const window = batch ?? debounce;
  if (!window) return boundedKey(key);
  return window.key === null ? ONLY_WINDOW : KEYED_WINDOW + boundedKey(key);
}

/** The name that a transaction locks before it changes the groups of one key, so that these changes happen in order. */
export const lockKeyOf = ({ agent, subscription, key }: GroupKey): string =>
  `join ${JSON.stringify([agent, subscription, key])}`;

/** The names that a transaction locks before it adds an artifact to the joins and windows that it triggers. */
export const lockKeysOf = (triggered: readonly Triggered[], owner: KeyOwner, numbers: SubscriptionNumbers): string[] =>
  triggered.flatMap((each) => {
    const { subscription } = each;
    if (!gathers(subscription)) return [];
    return [
      lockKeyOf({
        agent: subscription.agent,
        subscription: numbers.of(subscription),
        key: keyIn(owner, groupKeyOf(each)),
      }),
    ];
  });
