import { singletonAgent, singletonName } from '../../catalog/limits.js';
import type { JsonValue } from '../../common/json.js';
import type { LimitKey } from '../matching/limit-keys.js';
import { keyWithoutReplay } from '../matching/replay-keys.js';
import { keyText } from './key-texts.js';

// Executions of an agent with `singleton` wait for their turn as others wait for a limit: in `blocked_on`, until the turn is
// free. The turn is not in `limit_keys`, because an execution keeps it until it ends, also between its attempts.

/** The turn of a key (`executions.singleton_key`), in the form of a limit with a key. */
export const turnOf = (agent: string, key: string): LimitKey => [singletonName(agent), key, 1];

export const isTurn = ([name]: LimitKey): boolean => singletonAgent(name) !== null;

/** The form of `executions.blocked_on`. */
export const turnText = (agent: string, key: string): string => keyText(turnOf(agent, key));

/** The name that a transaction locks before it gives an execution the turn of a key, or adds one with this key. */
export const turnLock = (agent: string, key: string): string => `singleton ${turnText(agent, key)}`;

/** The key of a turn as the expression has given it. */
export const turnKey = ([, key]: LimitKey): JsonValue => JSON.parse(keyWithoutReplay(String(key))) as JsonValue;

/** The value of `blocked_on` with which an ended execution waits for its turn again. Null if it has no key. */
export const turnAgain = (agent: string, key: string | null): string | null =>
  key === null ? null : turnText(agent, key);
