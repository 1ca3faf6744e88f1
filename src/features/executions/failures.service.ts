import { Injectable } from '@nestjs/common';

import {
  type FailureGroupRow,
  FailureGroups,
  type GroupPlace,
} from '../../blackboard/queries/failure-groups.repository.js';
import { partsOf } from '../../common/page-cursor.js';
import { toTimestamp } from '../../common/timestamp.js';
import { nextPage } from '../../http/dto/page.js';
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
      pagination: nextPage(limit, after, last ? [last.last_at, last.id] : null),
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

function placeOf(after: string): GroupPlace {
  const [last_at, id] = partsOf(after, ['number', 'string']);
  return { last_at, id };
}
