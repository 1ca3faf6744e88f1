import { Injectable } from '@nestjs/common';
import { type RawBuilder, sql } from 'kysely';

import { Clock } from '../../common/clock.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

const WHOLE_EVERY_MS = 30_000;

/**
 * Finds the queues of targets with pending deliveries for which no wake-up came. On Postgres, a scan of all pending
 * rows also passes the dead rows of claimed deliveries while a session holds an old snapshot (see ReadyRows). Most
 * scans therefore begin after the last position.
 */
@Injectable()
export class ReadyTargets {
  private upTo = 0;
  private wholeAt = 0;

  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async find(): Promise<string[]> {
    // A process that is alone on the database only searches when it starts and after an error.
    if (this.unitOfWork.dialect.exclusive) return this.readyFrom(0);
    const isWhole = this.clock.now() >= this.wholeAt;
    const final = await this.unitOfWork.finalPosition('deliveries');
    const queues = await (isWhole ? this.readyInAll() : this.readyFrom(this.upTo));
    if (isWhole) this.wholeAt = this.clock.now() + WHOLE_EVERY_MS;
    this.upTo = final;
    return queues;
  }

  // Skips from each queue to the next, because the queue of a dead target is long. SQLite does not use this query: it
  // would choose another index and read all rows.
  private async readyInAll(): Promise<string[]> {
    const next = (after: RawBuilder<unknown>) =>
      sql`(select min(queue) from deliveries where state = 'pending' and available_at is null and queue > ${after})`;
    const { rows } = await sql<{ queue: string }>`
      with recursive queues (queue) as (select ${next(sql`''`)} union all select ${next(sql`queues.queue`)} from queues where queues.queue is not null)
      select queue from queues where queue is not null`.execute(this.unitOfWork.reader);
    return rows.map(({ queue }) => queue);
  }

  private async readyFrom(position: number): Promise<string[]> {
    const rows = await this.unitOfWork.reader
      .selectFrom('deliveries')
      .select('queue')
      .distinct()
      .where('state', '=', sql.lit('pending' as const))
      .where('available_at', 'is', null)
      .where('seq', '>', position)
      .execute();
    return rows.map(({ queue }) => queue);
  }
}
