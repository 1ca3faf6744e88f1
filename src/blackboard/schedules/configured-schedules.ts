import { Inject, Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { isLiveConfiguration } from '../processes/process-rows.js';
import { findOfOtherFiles, findSchedule, findSchedules, type ScheduleRow } from './schedule-rows.js';
import { scheduleLock, scheduleOf, StoredSchedules } from './stored-schedules.js';

/** Stores the schedules of the configuration file, and removes those that no file has any more. */
@Injectable()
export class ConfiguredSchedules {
  constructor(
    private readonly catalog: Catalog,
    private readonly stored: StoredSchedules,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Call it when this process has registered. */
  async store(): Promise<void> {
    const { schedules, digest } = this.catalog;
    const before = new Map((await findSchedules(this.unitOfWork.reader)).map((row) => [row.name, row]));
    for (const each of schedules) {
      const { name } = each.schedule;
      if (before.get(name)?.source === 'api')
        this.logger.warn({ schedule: name }, 'the configuration file replaces a schedule that a client had created');
      await this.change(name, (tx) => this.stored.save(tx, each, { source: 'file', configuration: digest }));
    }
    await this.removeLeft();
    const own = new Set(schedules.map(({ schedule }) => schedule.name));
    this.warnOfUnknownTypes([...before.values()].filter(({ name, source }) => source === 'api' && !own.has(name)));
  }

  /**
   * Removes the schedules of earlier files, except those of a file that a live process has. Call it when a process may have
   * ended.
   */
  async removeLeft(): Promise<void> {
    const { schedules, digest } = this.catalog;
    const own = new Set(schedules.map(({ schedule }) => schedule.name));
    for (const name of await findOfOtherFiles(this.unitOfWork.reader, digest)) {
      if (own.has(name)) continue;
      const isRemoved = await this.change(name, async (tx) => {
        const row = await findSchedule(tx.db, name);
        if (row?.source !== 'file' || (await isLiveConfiguration(tx.db, row.configuration, this.clock.now())))
          return false;
        await this.stored.remove(tx, row);
        return true;
      });
      if (isRemoved) this.logger.info({ schedule: name }, 'removed a schedule that no configuration file has any more');
    }
  }

  private warnOfUnknownTypes(stored: readonly ScheduleRow[]): void {
    for (const { name, options } of stored) {
      const { type } = scheduleOf(name, options).publishes;
      if (!this.catalog.type(type))
        this.logger.warn(
          { schedule: name, type },
          'the ticks of this schedule fail, because the configuration does not have its type; add the type, or change the schedule',
        );
    }
  }

  private change<T>(name: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.unitOfWork.run(async (tx) => {
      await tx.lock([scheduleLock(name)]);
      return work(tx);
    });
  }
}
