import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { ACTIVITY_COLUMNS } from '../../database/schema/activity-tables.js';
import { type Reader, UnitOfWork } from '../../database/unit-of-work.js';
import { rolledUpTo } from './rollup-rows.js';

/** Activity of an agent in one hour. */
export interface HourOfActivity {
  /** Epoch ms of the hour's start. */
  hour: number;
  executions: number;
  failures: number;
  artifacts_consumed: number;
  artifacts_produced: number;
}

/** Model usage of an agent. */
export interface AgentUsage {
  agent: string;
  input_tokens: number;
  output_tokens: number;
  /** Null if no usage has a price. */
  cost: number | null;
}

/** Totals of ended executions: the hourly rollup plus the few rows that are not rolled up yet. */
@Injectable()
export class ActivityTotals {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** The number of ended executions of all agents. */
  async executions(): Promise<number> {
    const { total } = await this.unitOfWork.reader
      .selectFrom(rollupsAndLater(this.unitOfWork.reader).as('activity'))
      .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('activity.executions'), sql.lit(0)).as('total'))
      .executeTakeFirstOrThrow();
    return total;
  }

  /** Model usage of an agent over its whole history. */
  usageOf(agent: string): Promise<{ input_tokens: number; output_tokens: number; cost: number | null }> {
    return this.unitOfWork.reader
      .selectFrom(rollupsAndLater(this.unitOfWork.reader).as('activity'))
      .where('activity.agent', '=', agent)
      .select(({ fn }) => [
        fn.coalesce(fn.sum<number>('activity.input_tokens'), sql.lit(0)).as('input_tokens'),
        fn.coalesce(fn.sum<number>('activity.output_tokens'), sql.lit(0)).as('output_tokens'),
        fn.sum<number | null>('activity.cost').as('cost'),
      ])
      .executeTakeFirstOrThrow();
  }

  /** Model usage of each of these agents in the hours from this one on (epoch ms). Agents without any are left out. */
  usageSince(hour: number, agents: readonly string[]): Promise<AgentUsage[]> {
    return this.unitOfWork.reader
      .selectFrom(rollupsAndLater(this.unitOfWork.reader).as('activity'))
      .where('activity.agent', 'in', agents)
      .where('activity.hour', '>=', hour)
      .select('activity.agent')
      .select(({ fn }) => [
        fn.sum<number>('activity.input_tokens').as('input_tokens'),
        fn.sum<number>('activity.output_tokens').as('output_tokens'),
        fn.sum<number | null>('activity.cost').as('cost'),
      ])
      .groupBy('activity.agent')
      .having(({ fn }) => fn.sum(sql<number>`input_tokens + output_tokens`), '>', 0)
      .execute();
  }

  /** Sorted by hour. */
  hoursOf(agent: string): Promise<HourOfActivity[]> {
    return (
      this.unitOfWork.reader
        .selectFrom(rollupsAndLater(this.unitOfWork.reader).as('activity'))
        .where('activity.agent', '=', agent)
        .select('activity.hour')
        .select((eb) => [
          eb.fn.sum<number>('activity.executions').as('executions'),
          eb.fn.sum<number>('activity.failures').as('failures'),
          eb.fn.sum<number>('activity.artifacts_consumed').as('artifacts_consumed'),
          eb.fn.sum<number>('activity.artifacts_produced').as('artifacts_produced'),
        ])
        .groupBy('activity.hour')
        // Model usage counts when an attempt ends, which may be hours before its execution ends: such an hour has no
        // executions.
        .having(({ fn }) => fn.sum('activity.executions'), '>', 0)
        .orderBy('activity.hour')
        .execute()
    );
  }
}

/** One statement reads both tables, so that a rollup between two reads cannot count a row twice or miss it. */
const rollupsAndLater = (db: Reader) =>
  db
    .selectFrom('activity_hours')
    .select(ACTIVITY_COLUMNS)
    .unionAll(db.selectFrom('activity').select(ACTIVITY_COLUMNS).where('seq', '>', rolledUpTo('activity')));
