import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import type { Reader } from '../../database/unit-of-work.js';

/** The number of an agent's executions that the process `owner` runs. */
export interface RunningExecutions {
  owner: string;
  agent: string;
  count: number;
}

@Injectable()
export class RunningExecutionsRepository {
  /**
   * Counts the running executions by process and agent, in the order of agents. Scans the partial index of running
   * executions, whose size the concurrency limits of the processes bound.
   */
  count(db: Reader): Promise<RunningExecutions[]> {
    return db
      .selectFrom('executions')
      .select(({ fn, ref }) => [ref('lease_owner').$notNull().as('owner'), 'agent', fn.countAll<number>().as('count')])
      .where('state', '=', sql.lit('running' as const))
      .where('lease_owner', 'is not', null)
      .groupBy(['lease_owner', 'agent'])
      .orderBy('agent')
      .execute();
  }
}
