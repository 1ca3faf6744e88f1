import { hasParts, type Position } from '../../common/page-cursor.js';
import type { GroupPosition } from './open-group-rows.js';

/** The largest value of the column with numbers of subscriptions. */
const LARGEST_NUMBER = 2 ** 31 - 1;

export const positionOf = ({ agent, subscription, key, ordinal }: GroupPosition): Position => [
  agent,
  subscription,
  key,
  ordinal,
];

/** Undefined for a position that is not that of a group. */
export function groupPosition(position: Position): GroupPosition | undefined {
  if (!hasParts(position, ['string', 'number', 'string', 'number'])) return undefined;
  const [agent, subscription, key, ordinal] = position as [string, number, string, number];
  if (Math.abs(subscription) > LARGEST_NUMBER) return undefined;
  return { agent, subscription, key, ordinal };
}
