import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { throttled } from '../../common/background-work.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

const OPEN = ['waiting', 'pending', 'running'] as const;

export type OpenCounts = Record<(typeof OPEN)[number], number>;

/** Counts the deliveries that have not ended, by state, for all processes on the database. */
@Injectable()
export class OpenDeliveries {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** The counts are throttled and may be slightly old, because counting many rows takes long. */
  readonly count = throttled(async (): Promise<OpenCounts> => {
    const { rows } = await sql<{ state: keyof OpenCounts; count: number }>`
      select state, count(*) as count from deliveries where state in (${sql.join(OPEN)}) group by state`.execute(
      this.unitOfWork.reader,
    );
    return Object.assign(
      { waiting: 0, pending: 0, running: 0 },
      Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)])),
    );
  });
}
