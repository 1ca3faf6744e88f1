import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { throttled } from '../../common/throttled.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { countWaitingExecutions } from './waiting-rows.js';

/** Counts the executions that wait, by agent, for all processes together. */
@Injectable()
export class WaitingCounts {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Agents without any are left out. The value may be a moment old, because counting many is slow. */
  readonly counts = throttled(() =>
    countWaitingExecutions(
      this.unitOfWork.reader,
      this.catalog.agents.map(({ name }) => name),
    ),
  );
}
