import { Injectable, type OnModuleInit } from '@nestjs/common';

import type { Cleanup, Deletion } from '../../blackboard/retention/cleanup.js';
import { Retention } from '../../blackboard/retention/retention.js';
import { Settings } from '../../config/settings.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { WebhookTargetsRepository } from './webhook-targets.repository.js';

/**
 * Deletes targets of clients with their secrets when they are older than `retain_deliveries` and no delivery or
 * correlation refers to them. A publish that uses one at the same time keeps it by a lock (`keeping`), or waits and
 * stores it again.
 */
@Injectable()
export class TargetDeletion implements Deletion, OnModuleInit {
  readonly name = 'webhook targets';

  constructor(
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
    private readonly retention: Retention,
    private readonly targets: WebhookTargetsRepository,
  ) {}

  onModuleInit(): void {
    this.retention.add(this);
  }

  async run(cleanup: Cleanup): Promise<number> {
    const cutoff = cleanup.cutoff(this.settings.retainDeliveriesMs);
    if (cutoff === null) return 0;
    const { reader } = this.unitOfWork;
    let after = '';
    let deleted = 0;
    while (await cleanup.goesOn()) {
      const some = await this.targets.clientsAfter(reader, after, cutoff);
      const last = some.at(-1);
      if (last === undefined) break;
      after = last;
      const unused = await this.targets.unusedAmong(reader, some);
      if (unused.length > 0) deleted += await cleanup.step((tx) => this.remove(tx, unused));
    }
    return deleted;
  }

  private async remove(tx: Transaction, found: readonly string[]): Promise<number> {
    const held = await this.targets.holdFree(tx, found);
    // Read again under the lock: earlier references are visible now, and no new one can come.
    const unused = await this.targets.unusedAmong(tx.db, held);
    await this.targets.delete(tx, unused);
    return unused.length;
  }
}
