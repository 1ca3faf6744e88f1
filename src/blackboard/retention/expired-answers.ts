import { Injectable, type OnModuleInit } from '@nestjs/common';

import { UnitOfWork } from '../../database/unit-of-work.js';
import { AT_ONCE, type Cleanup, type Deletion } from './cleanup.js';
import { deleteExpiredAnswers, findExpiredAnswers } from './expired-answer-rows.js';
import { Retention } from './retention.js';

/** Deletes answers that no execution takes any more (`cache` of an agent). */
@Injectable()
export class ExpiredAnswers implements Deletion, OnModuleInit {
  readonly name = 'cached answers';

  constructor(
    private readonly retention: Retention,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  onModuleInit(): void {
    this.retention.add(this);
  }

  async run(cleanup: Cleanup): Promise<number> {
    let deleted = 0;
    while (await cleanup.goesOn()) {
      // Without expired answers, a cleanup does not wait for the lock of a step.
      const keys = await findExpiredAnswers(this.unitOfWork.reader, cleanup.now, AT_ONCE);
      if (keys.length === 0) break;
      deleted += await cleanup.step((tx) => deleteExpiredAnswers(tx, cleanup.now, keys));
    }
    return deleted;
  }
}
