import { Inject, Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Processes } from '../processes/processes.js';
import { findSchedules } from './schedule-rows.js';
import { scheduleLock, StoredSchedules } from './stored-schedules.js';

/** Stores the schedules of the configuration file when a process starts. */
@Injectable()
export class ConfiguredSchedules {
  constructor(
    private readonly catalog: Catalog,
    private readonly processes: Processes,
    private readonly stored: StoredSchedules,
    private readonly unitOfWork: UnitOfWork,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Also removes the schedules of earlier files, except those of a file that another live process has. Call it when this
   * process has registered.
   */
  async store(): Promise<void> {
    const { schedules, digest } = this.catalog;
    const before = new Map((await findSchedules(this.unitOfWork.reader)).map((row) => [row.name, row]));
    for (const each of schedules) {
      const { name } = each.schedule;
      if (before.get(name)?.source === 'api')
        this.logger.warn({ schedule: name }, 'the configuration file replaces a schedule that a client had created');
      await this.change(name, (tx) => this.stored.save(tx, each, { source: 'file', configuration: digest }));
    }
    const names = new Set(schedules.map(({ schedule }) => schedule.name));
    const left = [...before.values()].filter(({ name, source }) => source === 'file' && !names.has(name));
    if (left.length === 0) return;
    const live = new Set((await this.processes.all()).map(({ configuration }) => configuration));
    for (const { name, configuration } of left) {
      if (live.has(configuration) && configuration !== digest) continue;
      await this.change(name, (tx) => this.stored.remove(tx, name));
      this.logger.info({ schedule: name }, 'removed a schedule that the configuration file no longer has');
    }
  }

  private change(name: string, work: Parameters<UnitOfWork['run']>[0]): Promise<unknown> {
    return this.unitOfWork.run(async (tx) => {
      await tx.lock([scheduleLock(name)]);
      return work(tx);
    });
  }
}
