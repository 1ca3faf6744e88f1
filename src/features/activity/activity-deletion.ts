import { Injectable, type OnModuleInit } from '@nestjs/common';

import { ActivityCounts } from '../../blackboard/queries/activity-counts.repository.js';
import { type Resolution, RESOLUTIONS } from '../../blackboard/queries/activity-resolutions.js';
import type { Cleanup, Deletion } from '../../blackboard/retention/cleanup.js';
import { Retention } from '../../blackboard/retention/retention.js';

/** Deletes counts of activity that are older than their resolution is kept. */
@Injectable()
export class ActivityDeletion implements Deletion, OnModuleInit {
  readonly name = 'activity counts';

  constructor(
    private readonly retention: Retention,
    private readonly counts: ActivityCounts,
  ) {}

  onModuleInit(): void {
    this.retention.add(this);
  }

  async run(cleanup: Cleanup): Promise<number> {
    let deleted = 0;
    for (const resolution of RESOLUTIONS) deleted += await this.deleteOld(cleanup, resolution);
    return deleted;
  }

  /** Deletes one step in each transaction. */
  private async deleteOld(cleanup: Cleanup, { stepMs, keptMs }: Resolution): Promise<number> {
    let deleted = 0;
    while (await cleanup.goesOn()) {
      const first = await this.counts.firstStep(stepMs);
      if (first === null || first + stepMs > cleanup.now - keptMs) break;
      deleted += await cleanup.step((tx) => this.counts.deleteStep(tx, stepMs, first));
    }
    return deleted;
  }
}
