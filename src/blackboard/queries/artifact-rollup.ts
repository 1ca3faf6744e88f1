import { Injectable } from '@nestjs/common';

import { UnitOfWork } from '../../database/unit-of-work.js';
import { addToCounts } from './artifact-count-rows.js';
import { Rollup } from './rollup.js';

/** Adds the newest artifacts to `artifact_counts`, so that totals need to count only a few artifacts besides it. */
@Injectable()
export class ArtifactRollup extends Rollup {
  constructor(unitOfWork: UnitOfWork) {
    super(unitOfWork, 'artifacts', 'stay');
  }

  protected override add = addToCounts;
}
