import { Injectable } from '@nestjs/common';

import type { Subscription } from '../../../catalog/definitions.js';
import { UnitOfWork } from '../../../database/unit-of-work.js';
import { artifactFromRow } from '../../artifacts/artifact.js';
import { countMemberBytes, findGroup, findMemberArtifacts } from '../../joins/join-group-rows.js';
import { Joins } from '../../joins/joins.js';
import { lockKeyOf } from '../../joins/lock-keys.js';
import { inOrderOfTypes } from '../../matching/matcher.js';
import { Matching } from '../../matching/matching.js';
import { SubscriptionNumbers } from '../../matching/subscription-numbers.js';
import type { Timer } from '../../scheduling/timer-rows.js';
import { type NotHere, NOTHING, type TimerHandler, type TimerWork } from '../timer-handler.js';
import { TimerMemory } from '../timer-memory.js';

/** Evaluates the `where` of a completed join group. The subject is the group's id. */
@Injectable()
export class JoinDecision implements TimerHandler {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly numbers: SubscriptionNumbers,
    private readonly matching: Matching,
    private readonly joins: Joins,
    private readonly memory: TimerMemory,
  ) {}

  async prepare({ subject: groupId }: Timer): Promise<TimerWork | NotHere> {
    const { reader } = this.unitOfWork;
    const group = await findGroup(reader, groupId);
    if (!group) return NOTHING;
    const subscription = this.numbers.find(group);
    if (!subscription) return { needs: group };
    const bytes = await countMemberBytes(reader, groupId);
    const passes = await this.memory.forPayloads(bytes, () => this.passes(subscription, groupId));
    return { lockKeys: [lockKeyOf(group)], run: (tx, changes) => this.joins.judged(tx, changes, group, passes) };
  }

  private async passes(subscription: Subscription, groupId: string): Promise<boolean> {
    const inputs = await findMemberArtifacts(this.unitOfWork.reader, groupId);
    return this.matching.groupPasses(subscription, inOrderOfTypes(subscription, inputs).map(artifactFromRow));
  }
}
