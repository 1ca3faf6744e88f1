import { Injectable } from '@nestjs/common';

import { UnitOfWork } from '../../database/unit-of-work.js';
import { addToCounts, findStep } from './artifact-count-rows.js';
import { moveOn, positionOf } from './rollup-rows.js';

// Artifacts per transaction. They take the writer about one millisecond.
const STEP = 1_000;

/** Adds the newest artifacts to `artifact_counts`, so that totals need to count only a few artifacts besides it. */
@Injectable()
export class ArtifactRollup {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Adds up the next `STEP` artifacts. Returns false when no more are left. */
  async step(): Promise<boolean> {
    // Positions that are not final must wait: an artifact that appears before the rollup's position would never be
    // counted.
    const final = await this.unitOfWork.finalPosition('artifacts');
    return this.unitOfWork.run(async (tx) => {
      const from = await positionOf(tx, 'artifacts');
      const { last: to, count } = await findStep(tx, from, final, STEP);
      if (to === null) return false;
      if (await moveOn(tx, 'artifacts', { from, to })) await addToCounts(tx, from, to);
      // The next run takes the few that arrive meanwhile: a rollup after every publish would cost more than it saves.
      return count === STEP;
    });
  }
}
