import { Injectable } from '@nestjs/common';

import { toTimestamp } from '../../common/timestamp.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isWindow, shownKeyOf } from '../joins/lock-keys.js';
import { SubscriptionNumbers, typesIn } from '../matching/subscription-numbers.js';
import type { SubscriptionRow } from '../matching/subscription-rows.js';
import type { KnownWork } from '../processes/known-work.js';
import { Processes } from '../processes/processes.js';
import {
  findMembersAfter,
  findOpenGroup,
  findOpenGroups,
  findSubscriptionsOf,
  type GroupFilter,
  type GroupPart,
  type GroupPosition,
  type MemberRow,
} from './open-group-rows.js';
import type { OpenGroup } from './waits.js';

/** Shows the join groups and batch windows that wait. */
@Injectable()
export class OpenGroups {
  constructor(
    private readonly numbers: SubscriptionNumbers,
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Returns the first groups after a position, by agent, subscription and key, then oldest first. */
  async page(
    filter: GroupFilter,
    after: GroupPosition | null,
    limit: number,
  ): Promise<{ position: GroupPosition; group: OpenGroup }[]> {
    return this.shown(await findOpenGroups(this.unitOfWork.reader, filter, after, limit));
  }

  async find(id: string): Promise<OpenGroup | undefined> {
    const [found] = await this.shown(await findOpenGroup(this.unitOfWork.reader, id));
    return found?.group;
  }

  /** Returns the first members of a group after a position, in the order of their arrival. */
  members(groupId: string, after: number, limit: number): Promise<MemberRow[]> {
    return findMembersAfter(this.unitOfWork.reader, groupId, after, limit);
  }

  private async shown(parts: readonly GroupPart[]): Promise<{ position: GroupPosition; group: OpenGroup }[]> {
    if (parts.length === 0) return [];
    const agents = [...new Set(parts.map(({ agent }) => agent))];
    const subscriptions = await findSubscriptionsOf(this.unitOfWork.reader, agents);
    const known = await this.processes.known();
    return [...Map.groupBy(parts, ({ id }) => id).values()].map((ofGroup) => ({
      position: ofGroup[0]!,
      group: this.openGroup(ofGroup, subscriptions, known),
    }));
  }

  private openGroup(
    parts: readonly GroupPart[],
    subscriptions: readonly SubscriptionRow[],
    known: KnownWork,
  ): OpenGroup {
    const row = parts[0]!;
    const configured = this.numbers.find(row);
    const stored = subscriptions.find(({ agent, number }) => agent === row.agent && number === row.subscription);
    // The database knows the types of subscriptions that only other or earlier configurations have.
    const types = configured?.types ?? (stored ? typesIn(stored.identity) : []);
    const window = isWindow(row);
    const correlations = new Set(parts.flatMap(({ first, last }) => [first, last]));
    return {
      kind: window ? 'window' : 'join',
      group_id: row.id,
      agent: row.agent,
      subscription: configured?.index ?? null,
      types,
      join_key: shownKeyOf(row),
      correlation_id: correlations.size === 1 ? [...correlations][0]! : null,
      state: row.state,
      received: Object.fromEntries(parts.map(({ type, count }) => [type, count])),
      waiting_for: window ? [] : types.filter((type) => !parts.some((each) => each.type === type)),
      size: row.size,
      size_needed: window ? (configured?.batch?.size ?? null) : types.length,
      since: toTimestamp(row.opened_at),
      until: row.closes_at === null ? null : toTimestamp(row.closes_at),
      without_process: !known.hasSubscription(row),
    };
  }
}
