import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { isName, NAME_RULE } from '../../catalog/configuration-file/name-schema.js';
import { scheduleOfClient } from '../../catalog/configuration-file/parse-schedules.js';
import type { ConfiguredSchedule } from '../../catalog/schedules/schedule.js';
import { ExpressionEvaluator } from '../../cel/evaluator.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import type { JsonObject } from '../../common/json.js';
import { nearestName } from '../../common/names-in-messages.js';
import { shown } from '../../common/short-text.js';
import { Settings } from '../../config/settings.js';
import { type Reader, type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { countSchedules, findSchedule, findSchedules, type ScheduleRow } from './schedule-rows.js';
import { scheduleLock, StoredSchedules } from './stored-schedules.js';

/** Schedules that clients can create. */
const MOST_SCHEDULES = 10_000;

/** The schedules of clients and of the configuration file. Clients cannot change those of the file. */
@Injectable()
export class Schedules {
  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly evaluator: ExpressionEvaluator,
    private readonly stored: StoredSchedules,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  all(): Promise<ScheduleRow[]> {
    return findSchedules(this.unitOfWork.reader);
  }

  /** DomainError `not_found`. */
  async get(name: string, db: Reader = this.unitOfWork.reader): Promise<ScheduleRow> {
    const row = await findSchedule(db, name);
    if (row) return row;
    const nearest = nearestName(
      name,
      (await findSchedules(db)).map((each) => each.name),
    );
    throw new DomainError(
      'not_found',
      `Schedule not found: ${shown(name)}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`,
    );
  }

  /** DomainError `invalid`, `conflict` (the name is in use). */
  async create(name: string, options: JsonObject): Promise<void> {
    const made = await this.check(name, options);
    await this.change(name, async (tx) => {
      if (await findSchedule(tx.db, name))
        throw new DomainError('conflict', `A schedule has the name ${shown(name)} already; choose another name`);
      if ((await countSchedules(tx.db)) >= MOST_SCHEDULES)
        throw new DomainError('conflict', `There are ${MOST_SCHEDULES} schedules, which is the most; delete one`);
      await this.stored.save(tx, made, { source: 'api' });
    });
  }

  /** Replaces the options, which makes a new version if they differ. DomainError `invalid`, `not_found`, `conflict`. */
  async replace(name: string, options: JsonObject): Promise<void> {
    const made = await this.check(name, options);
    await this.change(name, async (tx) => {
      await this.own(tx, name, 'change it');
      await this.stored.save(tx, made, { source: 'api' });
    });
  }

  /** DomainError `not_found`, `conflict` (it is of the file). */
  async remove(name: string): Promise<void> {
    await this.change(name, async (tx) => {
      await this.stored.remove(tx, await this.own(tx, name, 'remove it'));
    });
  }

  /** DomainError `not_found`. */
  async pause(name: string): Promise<void> {
    await this.change(name, async (tx) => this.stored.pause(tx, await this.get(name, tx.db)));
  }

  /** DomainError `not_found`. */
  async resume(name: string): Promise<void> {
    await this.change(name, async (tx) => this.stored.resume(tx, await this.get(name, tx.db)));
  }

  private async own({ db }: Transaction, name: string, what: string): Promise<ScheduleRow> {
    const row = await this.get(name, db);
    if (row.source === 'file')
      throw new DomainError('conflict', `Schedule ${name} is in the configuration file; ${what} there`);
    return row;
  }

  private async check(name: string, options: JsonObject): Promise<ConfiguredSchedule> {
    if (!isName(name)) throw new DomainError('invalid', `name: ${NAME_RULE}`);
    const made = await scheduleOfClient(name, options, {
      catalog: this.catalog,
      now: this.clock.now(),
      bodyLimitBytes: this.settings.bodyLimitBytes,
      evaluate: (source, variables) => this.evaluator.evaluate(source, variables),
    });
    if ('problem' in made) throw new DomainError('invalid', made.problem);
    return made;
  }

  private change(name: string, work: (tx: Transaction) => Promise<void>): Promise<void> {
    return this.unitOfWork.run(async (tx) => {
      await tx.lock([scheduleLock(name)]);
      await work(tx);
    });
  }
}
