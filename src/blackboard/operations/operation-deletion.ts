import { Injectable, type OnModuleInit } from '@nestjs/common';

import { UnitOfWork } from '../../database/unit-of-work.js';
import { AT_ONCE, type Cleanup, type Deletion } from '../retention/cleanup.js';
import { Retention } from '../retention/retention.js';
import { deleteOperations, findAfter, findEndedAmong } from './operation-rows.js';

const RETAIN_MS = 7 * 86_400_000;

/** Deletes operations that ended long ago. */
@Injectable()
export class OperationDeletion implements Deletion, OnModuleInit {
  readonly name = 'operations';

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly retention: Retention,
  ) {}

  onModuleInit(): void {
    this.retention.add(this);
  }

  async run(cleanup: Cleanup): Promise<number> {
    const cutoff = cleanup.cutoff(RETAIN_MS)!;
    const { reader } = this.unitOfWork;
    return cleanup.deleteEnded<string>(cutoff, {
      next: (after) => findAfter(reader, after, AT_ONCE),
      due: (ids) => findEndedAmong(reader, ids, cutoff),
      // An ended operation does not run again.
      remove: async (tx, ids) => {
        await deleteOperations(tx, ids);
        return ids.length;
      },
    });
  }
}
