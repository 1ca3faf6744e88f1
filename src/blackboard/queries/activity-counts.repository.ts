import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import type { ActivityEvent } from '../../database/schema.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { RESOLUTIONS } from './activity-resolutions.js';
import { rolledUpTo } from './rollup-rows.js';

/** Which events to count: steps of `stepMs` from `from` (epoch ms), which begins a step. Null counts all agents. */
export interface ActivityFilter {
  from: number;
  stepMs: number;
  agent: string | null;
}

/** How often an event of an agent occurred in a step. */
export interface StepCounts {
  agent: string;
  /** Epoch ms of the step's start. */
  start: number;
  event: ActivityEvent;
  /** Buckets of the latency with their counts, such as `3:12 4:1`. */
  buckets: string;
}

/** Counts of events: the rollup plus the few rows that are not rolled up yet. */
@Injectable()
export class ActivityCounts {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /**
   * One statement reads both tables, so that a rollup between two reads cannot count a row twice or miss it. It returns
   * the buckets as one text, because rows cost more than their sum.
   */
  find({ from, stepMs, agent }: ActivityFilter): Promise<StepCounts[]> {
    const db = this.unitOfWork.reader;
    const step = sql.lit(stepMs);
    const rolledUp = db
      .selectFrom('activity_counts')
      .select(['agent', sql<number>`start - start % ${step}`.as('start'), 'event', 'bucket', 'count'])
      .where('resolution', '=', resolutionFor(stepMs))
      .where('start', '>=', from)
      .$if(agent !== null, (all) => all.where('agent', '=', agent!));
    const later = db
      .selectFrom('activity')
      .select(['agent', sql<number>`minute - minute % ${step}`.as('start'), 'event', 'bucket', 'events as count'])
      .where('seq', '>', rolledUpTo('activity'))
      .where('minute', '>=', from)
      .where('event', 'is not', null)
      .$if(agent !== null, (all) => all.where('agent', '=', agent!))
      .$narrowType<{ event: ActivityEvent; bucket: number }>();
    const summed = db
      .selectFrom(rolledUp.unionAll(later).as('counts'))
      .select(({ fn }) => ['agent', 'start', 'event', 'bucket', fn.sum<number>('count').as('count')])
      .groupBy(['agent', 'start', 'event', 'bucket']);
    return db
      .selectFrom(summed.as('summed'))
      .select([
        'agent',
        'start',
        'event',
        sql<string>`string_agg(cast(bucket as text) || ':' || cast(count as text), ' ')`.as('buckets'),
      ])
      .groupBy(['agent', 'start', 'event'])
      .orderBy('agent')
      .execute();
  }

  /** Returns the first step of a resolution that has counts (epoch ms). */
  async firstStep(resolution: number): Promise<number | null> {
    const row = await this.unitOfWork.reader
      .selectFrom('activity_counts')
      .select('start')
      .where('resolution', '=', resolution)
      .orderBy('start')
      .limit(1)
      .executeTakeFirst();
    return row?.start ?? null;
  }

  /** Deletes the counts of a step. Returns how many rows it deleted. */
  async deleteStep({ db }: Transaction, resolution: number, start: number): Promise<number> {
    const { numDeletedRows } = await db
      .deleteFrom('activity_counts')
      .where('resolution', '=', resolution)
      .where('start', '=', start)
      .executeTakeFirst();
    return Number(numDeletedRows);
  }
}

/** The coarsest resolution of which the step is a multiple. */
const resolutionFor = (stepMs: number): number => RESOLUTIONS.findLast((one) => stepMs % one.stepMs === 0)!.stepMs;
