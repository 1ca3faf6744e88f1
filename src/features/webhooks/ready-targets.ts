import { Injectable } from '@nestjs/common';
import { type RawBuilder, sql } from 'kysely';
import { Clock } from '../../common/clock.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

const WHOLE_EVERY_MS = 30_000;

/**
 * Queues of targets with deliveries to claim, for whom no wake-up came. Looking at all of them would pass, on Postgres, whatever was claimed
 * while some session holds an old snapshot (see ReadyRows): mostly it is looked at what is new.
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
    // Alone with the database, a process looks when it starts, and after an error.
    if (this.unitOfWork.dialect.exclusive) return this.readyFrom(0);
    const isWhole = this.clock.now() >= this.wholeAt;
    const final = await this.unitOfWork.finalPosition('deliveries');
    const queues = await (isWhole ? this.readyInAll() : this.readyFrom(this.upTo));
    if (isWhole) this.wholeAt = this.clock.now() + WHOLE_EVERY_MS;
    this.upTo = final;
    return queues;
  }

  // From each queue to the next, since one of a dead target is long. SQLite would take another index for it, and read them all each time.
  private async readyInAll(): Promise<string[]> {
    const next = (after: RawBuilder<unknown>) => sql`(select min(queue) from deliveries where state = 'pending' and available_at is null and queue > ${after})`;
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
