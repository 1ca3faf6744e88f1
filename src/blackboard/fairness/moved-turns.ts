import type { Transaction } from '../../database/unit-of-work.js';
import { type Line, moveStarted, setVirtualTime } from './fair-key-rows.js';
import { lengthOfTurn } from './turn-order.js';

interface Started {
  fair_key: string | null;
  fair_weight: number | null;
}

/**
 * Moves the turns of keys of a line of which executions start, in the order in which they start. No other transaction moves
 * turns of the line meanwhile.
 */
export async function moveTurns(
  tx: Transaction,
  { line, virtualTime }: Line & { virtualTime: number },
  started: readonly Started[],
): Promise<void> {
  const moves = movesOf(started);
  let lastStart = virtualTime;
  // Most keys have the same weight, and start once.
  for (const same of Map.groupBy(moves, ({ by, weight }) => `${by} ${weight}`).values()) {
    const [{ by, weight }] = same as [(typeof moves)[number]];
    const keys = same.map(({ key }) => key);
    const moved = Map.groupBy(await moveStarted(tx.db, { line, virtualTime, by, weight }, keys), (row) => row.fair_key);
    for (const rows of moved.values()) {
      const next = Math.min(...rows.map(({ turn }) => turn));
      lastStart = Math.max(lastStart, next - lengthOfTurn(weight));
    }
  }
  if (lastStart > virtualTime) await setVirtualTime(tx.db, [{ agent: line, virtual_time: lastStart }]);
}

/**
 * Moves the turns back of keys of which executions did not start. The virtual time stays, because others have started. Several
 * turns before it keep their order, and one of a key that was added meanwhile may become negative.
 */
export async function moveTurnsBack(
  tx: Transaction,
  { line, virtualTime }: Line & { virtualTime: number },
  left: readonly Started[],
): Promise<void> {
  for (const { key, by, weight } of movesOf(left))
    await moveStarted(tx.db, { line, virtualTime, by: -by, weight }, [key]);
}

const movesOf = (rows: readonly Started[]): { key: string; by: number; weight: number }[] =>
  [...Map.groupBy(rows, ({ fair_key }) => fair_key!)].map(([key, ofKey]) => ({
    key,
    by: ofKey.reduce((sum, { fair_weight }) => sum + lengthOfTurn(fair_weight!), 0),
    weight: ofKey.at(-1)!.fair_weight!,
  }));
