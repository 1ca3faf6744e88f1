import { Inject, Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { ConfiguredSchedule } from '../../catalog/schedules/schedule.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { type Reader, type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { isLiveConfiguration } from '../processes/process-rows.js';
import { findSchedule, findSchedules, findSources, type ScheduleRow } from './schedule-rows.js';
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
    await this.lookAround();
    const own = new Set(schedules.map(({ schedule }) => schedule.name));
    this.warnOfUnknownTypes([...before.values()].filter(({ name, source }) => source === 'api' && !own.has(name)));
  }

  /**
   * Removes the schedules of files that no live process has any more. One that the file of this process has gets the options
   * of this file. Call it regularly, and when a process may have ended.
   */
  async lookAround(): Promise<void> {
    const own = new Map(this.catalog.schedules.map((each) => [each.schedule.name, each]));
    const stored = await findSources(this.unitOfWork.reader, [...own.keys()]);
    const left: string[] = [];
    const ofFiles = stored.filter(({ source }) => source === 'file');
    for (const [configuration, rows] of Map.groupBy(ofFiles, (row) => row.configuration))
      if (!(await this.isLive(this.unitOfWork.reader, configuration))) left.push(...rows.map(({ name }) => name));
    // Another process may have removed one before this process has looked.
    const names = new Set(stored.map(({ name }) => name));
    const lost = [...own.keys()].filter((name) => !names.has(name));
    for (const name of [...left, ...lost])
      if (await this.change(name, (tx) => this.replace(tx, name, own.get(name))))
        this.logger.info(
          { schedule: name },
          own.has(name)
            ? 'a schedule is as in this configuration file again, because no process has the other file any more'
            : 'removed a schedule that no configuration file has any more',
        );
  }

  /** Stores the schedule of this file, or removes it if there is none. False if a client or a live process has another one. */
  private async replace(tx: Transaction, name: string, own: ConfiguredSchedule | undefined): Promise<boolean> {
    const row = await findSchedule(tx.db, name);
    if (row && (row.source === 'api' || (await this.isLive(tx.db, row.configuration)))) return false;
    if (own) await this.stored.save(tx, own, { source: 'file', configuration: this.catalog.digest });
    else if (row) await this.stored.remove(tx, row);
    else return false;
    return true;
  }

  /** Whether this process or another live one has the file with this digest. */
  private async isLive(db: Reader, digest: string): Promise<boolean> {
    return digest === this.catalog.digest || (await isLiveConfiguration(db, digest, this.clock.now()));
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
