import { Injectable } from '@nestjs/common';

import { ExtraTicks } from '../../blackboard/schedules/extra-ticks.js';
import type { ScheduleRow } from '../../blackboard/schedules/schedule-rows.js';
import { Schedules } from '../../blackboard/schedules/schedules.js';
import { scheduleOf } from '../../blackboard/schedules/stored-schedules.js';
import { findTicks, type Tick } from '../../blackboard/schedules/tick-rows.js';
import { boundary, isDate } from '../../catalog/configuration-file/schedule-definition.js';
import { nextTick, ticksBetween } from '../../catalog/schedules/next-tick.js';
import { localText } from '../../catalog/schedules/wall-times.js';
import { Clock } from '../../common/clock.js';
import type { JsonObject } from '../../common/json.js';
import { partsOf } from '../../common/page-cursor.js';
import { laterTurn } from '../../common/scheduler.js';
import { toTimestamp } from '../../common/timestamp.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { nextPage } from '../../http/dto/page.js';
import { parseTimestamp } from '../../http/validation/query.js';
import type {
  BackfillBody,
  BackfilledBody,
  PreviewBody,
  ScheduleBody,
  ScheduleListBody,
  ScheduleListQuery,
  TickBody,
  TicksBody,
  TickTimeBody,
} from './dto/schedule-body.js';
import type { BackfillRequest, NewScheduleRequest, TicksQuery } from './dto/schedule-requests.js';

/** Shows and changes schedules. Every method throws the DomainErrors of the core. */
@Injectable()
export class SchedulesService {
  constructor(
    private readonly schedules: Schedules,
    private readonly extra: ExtraTicks,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async list({ limit, offset }: ScheduleListQuery): Promise<ScheduleListBody> {
    const rows = (await this.schedules.all()).slice(offset, offset + limit + 1);
    const items: ScheduleBody[] = [];
    for (const row of rows.slice(0, limit)) {
      items.push(await this.body(row));
      // The search for a next tick may take long, and other work runs in between.
      await laterTurn();
    }
    return { items, pagination: { limit, offset, has_more: rows.length > limit } };
  }

  async get(name: string): Promise<ScheduleBody> {
    return this.body(await this.schedules.get(name));
  }

  async create({ name, options }: NewScheduleRequest): Promise<ScheduleBody> {
    await this.schedules.create(name, options);
    return this.get(name);
  }

  async replace(name: string, options: JsonObject): Promise<ScheduleBody> {
    await this.schedules.replace(name, options);
    return this.get(name);
  }

  /** Returns the schedule as it was. */
  async remove(name: string): Promise<ScheduleBody> {
    const body = await this.get(name);
    await this.schedules.remove(name);
    return { ...body, next: undefined };
  }

  async pause(name: string): Promise<ScheduleBody> {
    await this.schedules.pause(name);
    return this.get(name);
  }

  async resume(name: string): Promise<ScheduleBody> {
    await this.schedules.resume(name);
    return this.get(name);
  }

  async trigger(name: string): Promise<TickBody> {
    const tick = await this.extra.trigger(name);
    return tickBody(tick as Tick, await this.zoneOf(name));
  }

  async backfill(name: string, { from, to, dry_run = false }: BackfillRequest): Promise<BackfillBody> {
    const zone = await this.zoneOf(name);
    const [first, last] = [backfillTime(from, zone, 'start'), backfillTime(to, zone, 'end')];
    // Today has not ended yet.
    const isToday = isDate(to) && boundary(to, zone, 'start') <= this.clock.now();
    const ticks = await this.extra.backfill(name, first, isToday ? Math.min(last, this.clock.now()) : last, dry_run);
    return {
      ticks: ticks.map(({ scheduled_for, version, state, reason }) => ({
        ...timeBody(scheduled_for, zone),
        version,
        state: state as BackfilledBody['state'],
        reason: reason ?? null,
      })),
      dry_run,
    };
  }

  async preview(name: string, count: number): Promise<PreviewBody> {
    const { options } = await this.schedules.get(name);
    const schedule = scheduleOf(name, options);
    const ticks = ticksBetween(schedule, this.clock.now(), Infinity, count);
    return { ticks: ticks.map((tick) => timeBody(tick, schedule.timeZone)) };
  }

  async ticks(name: string, { state, limit, after }: TicksQuery): Promise<TicksBody> {
    const zone = await this.zoneOf(name);
    const before = after === undefined ? undefined : partsOf(after, ['number'])[0];
    const rows = await findTicks(this.unitOfWork.reader, name, { before, state, limit: limit + 1 });
    const page = rows.slice(0, limit);
    const next = rows.length > limit ? [page.at(-1)!.scheduled_for] : null;
    return { ticks: page.map((row) => tickBody(row, zone)), pagination: nextPage(limit, after, next) };
  }

  private async zoneOf(name: string): Promise<string> {
    const { options } = await this.schedules.get(name);
    return scheduleOf(name, options).timeZone;
  }

  private async body(row: ScheduleRow): Promise<ScheduleBody> {
    const schedule = scheduleOf(row.name, row.options);
    const [last] = await findTicks(this.unitOfWork.reader, row.name, { limit: 1 });
    const next = row.paused_at === null ? nextTick(schedule, Math.max(row.position, this.clock.now())) : null;
    return {
      name: row.name,
      source: row.source,
      version: row.version,
      options: JSON.parse(row.options) as JsonObject,
      paused_at: row.paused_at === null ? null : toTimestamp(row.paused_at),
      ...(next !== null && { next: timeBody(next, schedule.timeZone) }),
      ...(last && { last: tickBody(last, schedule.timeZone) }),
      created_at: toTimestamp(row.created_at),
      updated_at: toTimestamp(row.updated_at),
    };
  }
}

/** A date is the whole day in the time zone of the schedule, as in its options. */
const backfillTime = (text: string, timeZone: string, edge: 'start' | 'end'): number =>
  isDate(text) ? boundary(text, timeZone, edge) : parseTimestamp(text)!;

const timeBody = (tick: number, timeZone: string): TickTimeBody => ({
  scheduled_for: toTimestamp(tick),
  local: localText(tick, timeZone),
});

const tickBody = (row: Omit<Tick, 'seq'>, timeZone: string): TickBody => ({
  ...timeBody(row.scheduled_for, timeZone),
  state: row.state,
  cause: row.cause,
  reason: row.reason,
  version: row.version,
  artifact_id: row.artifact_id,
  correlation_id: row.correlation_id,
  decided_at: toTimestamp(row.decided_at),
});
