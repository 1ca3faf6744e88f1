import type { Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { deleteFirst, findStep, moveOn, positionOf, type Range, type RollupName, tableOf } from './rollup-rows.js';

/** Rows per transaction. They take the writer a few milliseconds at most. */
export const STEP = 1_000;

/** Adds the rows of a table to totals, in the order of their positions and each row once. */
export abstract class Rollup {
  protected constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly name: RollupName,
    private readonly rolledUpRows: 'stay' | 'are deleted',
  ) {}

  /** Adds up the next `STEP` rows. Returns false when no more rows are left. */
  async step(): Promise<boolean> {
    // Positions that are not final must wait: a row that appears before the rollup's position would never be counted.
    const final = await this.unitOfWork.finalPosition(tableOf(this.name));
    return this.unitOfWork.run(async (tx) => {
      const from = await positionOf(tx, this.name);
      const { last: to, count } = await findStep(tx, this.name, { from, to: final }, STEP);
      if (to === null) return false;
      if (await moveOn(tx, this.name, { from, to })) await this.add(tx, { from, to });
      // The next run takes the few that arrive meanwhile: a rollup after every row would cost more than it saves.
      return count === STEP;
    });
  }

  /**
   * Deletes up to `STEP` rows that have been rolled up, if the table exists only for the rollup. Returns false when no
   * more are left. It does not run after each step, because deleted rows slow down the next scans for a while.
   */
  async clear(): Promise<boolean> {
    if (this.rolledUpRows === 'stay') return false;
    return this.unitOfWork.run(
      async (tx) => (await deleteFirst(tx, this.name, await positionOf(tx, this.name), STEP)) === STEP,
    );
  }

  /** Adds the rows of the range to the totals. */
  protected abstract add(tx: Transaction, range: Range): Promise<void>;
}
