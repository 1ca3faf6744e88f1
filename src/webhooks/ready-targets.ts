import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Clock } from '../common/clock.js';
import { UnitOfWork } from '../database/unit-of-work.js';

const WHOLE_EVERY_MS = 30_000;

/**
 * Lines of targets with deliveries to claim, for whom no wake-up came. Looking at all of them would pass, on Postgres, whatever was claimed
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
    const isWhole = this.unitOfWork.dialect.exclusive || this.clock.now() >= this.wholeAt;
    const final = await this.unitOfWork.finalPosition('deliveries');
    const lines = await this.readyFrom(isWhole ? 0 : this.upTo);
    if (isWhole) this.wholeAt = this.clock.now() + WHOLE_EVERY_MS;
    this.upTo = final;
    return lines;
  }

  private async readyFrom(position: number): Promise<string[]> {
    const rows = await this.unitOfWork.reader
      .selectFrom('deliveries')
      .select('line')
      .distinct()
      .where('state', '=', sql.lit('pending' as const))
      .where('available_at', 'is', null)
      .where('seq', '>', position)
      .execute();
    return rows.map(({ line }) => line);
  }
}
