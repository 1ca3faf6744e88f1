import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { AT_ONCE, type Cleanup, type Deletion } from './cleanup.js';

/** Deletes answers that no execution takes any more (`cache` of an agent). */
@Injectable()
export class ExpiredAnswers implements Deletion {
  readonly name = 'cached_answers';

  async run(cleanup: Cleanup): Promise<number> {
    let deleted = 0;
    while (await cleanup.goesOn()) {
      const some = await cleanup.step((tx) => remove(tx, cleanup.now));
      deleted += some;
      if (some < AT_ONCE) break;
    }
    return deleted;
  }
}

async function remove(tx: Transaction, now: number): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('cached_answers')
    .where('key', 'in', (eb) =>
      eb.selectFrom('cached_answers').select('key').where('expires_at', '<=', now).orderBy('expires_at').limit(AT_ONCE),
    )
    // Since then a new answer may have the key.
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
