import { Injectable } from '@nestjs/common';

import {
  type FailureGroupRow,
  FailureGroups,
  type GroupPlace,
} from '../../blackboard/queries/failure-groups.repository.js';
import { DomainError } from '../../common/domain-error.js';
import { fromCursor, hasParts, toCursor } from '../../common/page-cursor.js';
import { shown } from '../../common/short-text.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { FailureGroupBody, FailureListBody, FailureListQuery } from './dto/failure-list.js';

/** Shows failed executions in groups. */
@Injectable()
export class FailuresService {
  constructor(private readonly groups: FailureGroups) {}

  /** Throws DomainError `invalid`. */
  async list({ agent, error_type, from, to, limit, after }: FailureListQuery): Promise<FailureListBody> {
    const filter = {
      id: null,
      agent: agent ?? null,
      errorType: error_type ?? null,
      from: from ?? null,
      to: to ?? null,
    };
    const rows = await this.groups.list(filter, after === undefined ? null : placeOf(after), limit + 1);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      items: page.map(groupBody),
      pagination: {
        limit,
        after: after ?? null,
        next: last ? toCursor([last.last_at, last.id]) : null,
        has_more: last !== undefined,
      },
    };
  }
}

const groupBody = ({ id, agent, error_type, message, count, first_at, last_at, example }: FailureGroupRow) =>
  ({
    group: id,
    agent,
    error_type,
    message,
    count,
    first_at: toTimestamp(first_at),
    last_at: toTimestamp(last_at),
    example,
  }) satisfies FailureGroupBody;

function placeOf(text: string): GroupPlace {
  const position = fromCursor(text);
  if (!position || !hasParts(position, ['number', 'string']))
    throw new DomainError('invalid', `after: must be next of an earlier page (got "${shown(text)}")`);
  const [last_at, id] = position as [number, string];
  return { last_at, id };
}
