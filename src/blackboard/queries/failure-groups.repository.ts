import { Injectable } from '@nestjs/common';
import { type RawBuilder, type Selectable, sql, type SqlBool } from 'kysely';

import type { FailureGroupsTable } from '../../database/schema.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { rolledUpTo } from './rollup-rows.js';

/** Null does not filter. Times are epoch ms. */
export interface FailureGroupFilter {
  id: string | null;
  agent: string | null;
  errorType: string | null;
  /** Keeps groups that last failed at this time or later. */
  from: number | null;
  /** Keeps groups that last failed at this time or earlier. */
  to: number | null;
}

/** The place of a group in the list. */
export type GroupPlace = Pick<Selectable<FailureGroupsTable>, 'id' | 'last_at'>;

export type FailureGroupRow = Selectable<FailureGroupsTable> & {
  /** The id of its newest failed execution. */
  example: string;
};

/** Groups of failed executions: the rollup plus the few changes that are not rolled up yet. */
@Injectable()
export class FailureGroups {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Returns the first `limit` groups after a place, the one that failed last first. */
  async list(filter: FailureGroupFilter, after: GroupPlace | null, limit: number): Promise<FailureGroupRow[]> {
    const place = after === null ? [] : [sql<SqlBool>`(last_at, id) < (${after.last_at}, ${after.id})`];
    const matches = sql.join([...conditions(filter), ...place], sql` and `);
    const first = sql`order by last_at desc, id desc limit ${limit}`;
    const { rows } = await sql<FailureGroupRow>`
      with ${CHANGED}
      select page.*, (
        select executions.id from executions where failure_group = page.id order by seq desc limit 1
      ) as example
      from (
        select * from (select ${COLUMNS} from changed where ${matches} ${first}) as some_changed
        union all
        select * from (select ${COLUMNS} from failure_groups where ${matches} and ${UNCHANGED} ${first}) as some_unchanged
        ${first}
      ) as page
      order by last_at desc, page.id desc`.execute(this.unitOfWork.reader);
    return rows;
  }

  /** Returns how many executions of all matching groups are failed now. */
  async count(filter: FailureGroupFilter): Promise<number> {
    const matches = sql.join(conditions(filter), sql` and `);
    const { rows } = await sql<{ total: number }>`
      with ${CHANGED}
      select coalesce(sum(count), 0) as total from (
        select count from changed where ${matches}
        union all
        select count from failure_groups where ${matches} and ${UNCHANGED}
      ) as matching`.execute(this.unitOfWork.reader);
    return Number(rows[0]!.total);
  }
}

const COLUMNS = sql.raw('id, agent, error_type, message, count, first_at, last_at');

const UNCHANGED = sql<SqlBool>`id not in (select id from changed)`;

/**
 * The groups with changes that are not rolled up, as they will be when they are. One statement reads both tables, as in
 * ActivityTotals.
 */
const CHANGED = sql`
  latest as materialized (
    select failure_group, sum(change) as change, max(agent) as agent, max(error_type) as error_type,
      max(message) as message, min(failed_at) as first_at, max(failed_at) as last_at
    from failure_changes where seq > ${rolledUpTo('failure_changes')} group by failure_group
  ),
  changed as materialized (
    select failure_group as id, coalesce(known.agent, latest.agent) as agent,
      coalesce(known.error_type, latest.error_type) as error_type, coalesce(known.message, latest.message) as message,
      coalesce(known.count, 0) + latest.change as count,
      coalesce(case when latest.first_at < known.first_at then latest.first_at end, known.first_at, latest.first_at) as first_at,
      coalesce(case when latest.last_at > known.last_at then latest.last_at end, known.last_at, latest.last_at) as last_at
    from latest left join failure_groups as known on known.id = failure_group
  )`;

function conditions({ id, agent, errorType, from, to }: FailureGroupFilter): RawBuilder<SqlBool>[] {
  return [
    sql<SqlBool>`count > 0`,
    ...(id === null ? [] : [sql<SqlBool>`id = ${id}`]),
    ...(agent === null ? [] : [sql<SqlBool>`agent = ${agent}`]),
    ...(errorType === null ? [] : [sql<SqlBool>`error_type = ${errorType}`]),
    ...(from === null ? [] : [sql<SqlBool>`last_at >= ${from}`]),
    ...(to === null ? [] : [sql<SqlBool>`last_at <= ${to}`]),
  ];
}
