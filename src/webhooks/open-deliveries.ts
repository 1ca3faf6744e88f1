import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { UnitOfWork } from '../database/unit-of-work.js';

const PAUSE_FACTOR = 20;
const OPEN = ['waiting', 'pending', 'running'] as const;

export type OpenCounts = Record<(typeof OPEN)[number], number>;

/** How many deliveries have not ended, by state, of all processes on the database. */
@Injectable()
export class OpenDeliveries {
  private counts: Promise<OpenCounts> | null = null;

  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** As of a moment ago: counting takes the longer the more there are, and is never more than a small part of the time. */
  count(): Promise<OpenCounts> {
    this.counts ??= this.countNow();
    return this.counts;
  }

  private async countNow(): Promise<OpenCounts> {
    const startedAt = performance.now();
    try {
      const { rows } = await sql<{ state: keyof OpenCounts; count: number }>`
        select state, count(*) as count from deliveries where state in (${sql.join(OPEN)}) group by state`.execute(this.unitOfWork.reader);
      return Object.assign({ waiting: 0, pending: 0, running: 0 }, Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)])));
    } finally {
      setTimeout(() => (this.counts = null), PAUSE_FACTOR * (performance.now() - startedAt)).unref();
    }
  }
}
