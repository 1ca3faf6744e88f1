import { isLongKey, LONGEST_KEY } from '../../catalog/execution-keys.js';
import { breakerAgent } from '../../catalog/limits.js';
import { keyIn, type KeyOwner } from './replay-keys.js';

/** The columns of an execution that decide when it starts and what cancels it, with what expressions over its inputs gave when it was queued. */
export interface QueueValues {
  /** In the form of `executions.limit_keys`. */
  limit_keys: string | null;
  /** In the form of `executions.fair_key`. */
  fair_key: string | null;
  fair_weight: number | null;
  /** Null: that of the subscription. */
  priority: number | null;
  /** In the form of `Cancel`. */
  cancel_key: string | null;
  /** JSON: the key of `singleton`. */
  singleton_key: string | null;
}

export const NO_VALUES: QueueValues = {
  limit_keys: null,
  fair_key: null,
  fair_weight: null,
  priority: null,
  cancel_key: null,
  singleton_key: null,
};

type Keys = Pick<QueueValues, 'limit_keys' | 'cancel_key' | 'singleton_key'>;

/** The keys as an execution of this correlation has them. */
export const keysIn = (owner: KeyOwner, { limit_keys, cancel_key, singleton_key }: Keys): Keys => ({
  limit_keys: limit_keys !== null && owner.isReplay ? withoutBreaker(limit_keys) : limit_keys,
  cancel_key: cancel_key === null ? null : keyIn(owner, cancel_key),
  singleton_key: singleton_key === null ? null : keyIn(owner, singleton_key),
});

/** A replay tries something out, which says nothing about live work. */
function withoutBreaker(limitKeys: string): string | null {
  const keys = (JSON.parse(limitKeys) as [name: string][]).filter(([name]) => breakerAgent(name) === null);
  return keys.length === 0 ? null : JSON.stringify(keys);
}

/** Why an execution cannot be queued. It fails with this error. */
export interface QueueProblem {
  type: 'limit_key' | 'fair_key' | 'priority' | 'singleton_key' | 'breaker_key';
  message: string;
}

/** Says what is wrong with a key; null if it can be used. */
export function findKeyProblem(key: unknown): string | null {
  if (key === null) return 'is null';
  if (typeof key === 'object') return 'must give a text, a number or a boolean';
  return isLongKey(String(key)) ? `is longer than ${LONGEST_KEY} characters` : null;
}
