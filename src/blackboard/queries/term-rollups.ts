import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Rollup } from './rollup.js';
import type { Range } from './rollup-rows.js';
import { addAgents, addTags, addTypes } from './term-rows.js';

/**
 * Adds the types and tags of artifacts to `correlation_terms`. A publish would have to write several pages of that table,
 * so it leaves them to this rollup. Until then, lists find the artifacts themselves.
 */
@Injectable()
export class ArtifactTermRollup extends Rollup {
  constructor(unitOfWork: UnitOfWork) {
    super(unitOfWork, 'artifact_terms', 'stay');
  }

  protected override async add({ db }: Transaction, range: Range): Promise<void> {
    await addTypes(db, range);
    await addTags(db, range);
  }
}

/** Adds the agents of executions to `correlation_terms`, for the same reason. */
@Injectable()
export class ExecutionTermRollup extends Rollup {
  constructor(unitOfWork: UnitOfWork) {
    super(unitOfWork, 'execution_terms', 'stay');
  }

  protected override async add({ db }: Transaction, range: Range): Promise<void> {
    await addAgents(db, range);
  }
}
