import { createHash } from 'node:crypto';
import { isJoin, type Triggered } from '../matcher.js';
import { lineOf, WINDOW_KEY } from './waiting-groups.js';

const LONGEST_KEY = 200;

/** Keys are stored and indexed; a long one by its digest. */
export const boundedKey = (key: string): string =>
  key.length <= LONGEST_KEY ? key : `sha256:${createHash('sha256').update(key).digest('hex')}`;

/** What a transaction locks before it lets an artifact arrive where it triggers. */
export const linesOf = (triggered: readonly Triggered[]): string[] =>
  triggered.flatMap(({ subscription, key }) => {
    const { agent, index } = subscription;
    if (subscription.batch) return [lineOf({ agent, subscription: index, key: WINDOW_KEY })];
    return isJoin(subscription) ? [lineOf({ agent, subscription: index, key: boundedKey(key) })] : [];
  });
