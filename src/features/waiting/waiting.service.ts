import { Injectable } from '@nestjs/common';

import { CorrelationWaits } from '../../blackboard/waits/correlation-waits.js';
import { groupPosition, positionOf } from '../../blackboard/waits/group-position.js';
import type { GroupPosition, MemberRow } from '../../blackboard/waits/open-group-rows.js';
import { OpenGroups } from '../../blackboard/waits/open-groups.js';
import { DomainError } from '../../common/domain-error.js';
import { fromCursor, notFromEarlierPage, partsOf } from '../../common/page-cursor.js';
import { toTimestamp } from '../../common/timestamp.js';
import { nextPage } from '../../http/dto/page.js';
import type { CorrelationWaitingBody } from './dto/correlation-waiting-body.js';
import type { GroupMemberBody, WaitingGroupBody, WaitingGroupsBody } from './dto/waiting-group-body.js';
import type { WaitingGroupsQuery, WaitingQuery } from './dto/waiting-query.js';

/** Shows what waits, and for what. */
@Injectable()
export class WaitingService {
  constructor(
    private readonly correlationWaits: CorrelationWaits,
    private readonly openGroups: OpenGroups,
  ) {}

  /** Throws DomainError `not_found`, or `invalid` if `after` is not from an earlier page; likewise below. */
  async ofCorrelation(id: string, { after, limit }: WaitingQuery): Promise<CorrelationWaitingBody> {
    const position = after === undefined ? null : fromCursor(after);
    if (position && !this.correlationWaits.isPosition(position)) throw notFromEarlierPage(after!);
    const page = await this.correlationWaits.of(id, position, limit);
    if (!page) throw new DomainError('not_found', `Correlation not found: ${id}`);
    const { state, counts, items, next } = page;
    return { correlation_id: id, state, counts, items, pagination: nextPage(limit, after, next) };
  }

  async groups({ agent, correlation_id, after, limit }: WaitingGroupsQuery): Promise<WaitingGroupsBody> {
    const filter = { agent: agent ?? null, correlationId: correlation_id ?? null };
    const found = await this.openGroups.page(filter, groupIn(after, filter.agent), limit + 1);
    const page = found.slice(0, limit);
    const next = found.length > limit ? positionOf(page.at(-1)!.position) : null;
    return { items: page.map(({ group }) => group), pagination: nextPage(limit, after, next) };
  }

  async group(id: string, { after, limit }: WaitingQuery): Promise<WaitingGroupBody> {
    const group = await this.openGroups.find(id);
    if (!group) throw new DomainError('not_found', `Waiting group not found: ${id}`);
    const found = await this.openGroups.members(id, memberIn(after), limit + 1);
    const page = found.slice(0, limit);
    const next = found.length > limit ? [page.at(-1)!.position] : null;
    return { ...group, items: page.map(memberBody), pagination: nextPage(limit, after, next) };
  }
}

/** The filter's agent must be that of the position: a page of another agent's groups would skip some of this one. */
function groupIn(after: string | undefined, agent: string | null): GroupPosition | null {
  if (after === undefined) return null;
  const position = groupPosition(fromCursor(after));
  if (!position || (agent !== null && agent !== position.agent)) throw notFromEarlierPage(after);
  return position;
}

const memberIn = (after: string | undefined): number => (after === undefined ? -1 : partsOf(after, ['number'])[0]);

const memberBody = ({ artifact_id, artifact_type, correlation_id, arrived_at }: MemberRow): GroupMemberBody => ({
  artifact_id,
  artifact_type,
  correlation_id,
  arrived_at: toTimestamp(arrived_at),
});
