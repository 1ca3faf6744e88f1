import { Injectable, type OnModuleInit } from '@nestjs/common';

import { AT_ONCE, type Cleanup, type Deletion } from './cleanup.js';
import { deleteExpiredAnswers } from './expired-answer-rows.js';
import { Retention } from './retention.js';

/** Deletes answers that no execution takes any more (`cache` of an agent). */
@Injectable()
export class ExpiredAnswers implements Deletion, OnModuleInit {
  readonly name = 'cached answers';

  constructor(private readonly retention: Retention) {}

  onModuleInit(): void {
    this.retention.add(this);
  }

  async run(cleanup: Cleanup): Promise<number> {
    let deleted = 0;
    while (await cleanup.goesOn()) {
      const some = await cleanup.step((tx) => deleteExpiredAnswers(tx, cleanup.now, AT_ONCE));
      deleted += some;
      if (some < AT_ONCE) break;
    }
    return deleted;
  }
}
