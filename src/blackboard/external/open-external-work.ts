import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { throttled } from '../../common/throttled.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import { countOpen, type OpenWork } from './external-rows.js';

/** Counts the executions of each external agent that have not ended, for all processes together. */
@Injectable()
export class OpenExternalWork {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** The value may be a moment old, because counting many executions is slow. */
  readonly count = throttled(async (): Promise<OpenWork[]> => {
    const agents = this.catalog.agents.filter(isExternal).map(({ name }) => name);
    return agents.length === 0 ? [] : countOpen(this.unitOfWork.reader, agents);
  });
}
