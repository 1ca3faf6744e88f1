import { Injectable, type OnModuleInit } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { HAS_RUN } from '../correlations/correlation-rows.js';
import { CorrelationSettled } from '../correlations/correlation-settled.js';
import { isReplay, type TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { findGroupsOf, findJoinsWithin } from './abandoned-group-rows.js';
import { WaitingGroups } from './waiting-groups.js';

/**
 * Removes the groups that can never complete, because they wait for artifacts of a correlation that takes no more: a run
 * that has ended, or a replay without a failed execution to retry. Artifacts of a replay wait only for others of it.
 *
 * The transaction that settles a correlation has locked it. In these groups only artifacts of this correlation arrive, with
 * the same lock, so their keys need no lock. None has a time limit, because that would have kept the correlation active.
 */
@Injectable()
export class AbandonedGroups implements OnModuleInit {
  constructor(
    private readonly settled: CorrelationSettled,
    private readonly groups: WaitingGroups,
  ) {}

  onModuleInit(): void {
    this.settled.add(async (tx, correlation) => {
      for (const { group_id } of await abandonedBy(tx, correlation)) await this.groups.remove(tx, group_id);
    });
  }
}

async function abandonedBy({ db }: Transaction, correlation: TrackedCorrelation): Promise<{ group_id: string }[]> {
  const { id: correlationId, error_count } = correlation;
  if (correlation.has_run === HAS_RUN.run) return findJoinsWithin(db, { correlationId });
  return isReplay(correlation) && error_count === 0 ? findGroupsOf(db, { correlationId }) : [];
}
