import type { ScheduleOptions } from '../../src/catalog/schedules/schedule.js';
import { jsonField, type Rows } from '../support/database.js';
import { dueTimes, msOf } from './due-times.js';

interface Row {
  name: string;
  options: string;
  created_at: number;
  position: number;
  paused_at: number | null;
}

export interface Tick {
  schedule: string;
  at: number;
  state: string;
  reason: string | null;
  decided: number;
  correlation: string | null;
  /** Its artifact: null if there is none. */
  artifact: string | null;
  place: number | null;
  payload: string | null;
  tags: string | null;
  /** The state of its correlation, and from when to when that was active. */
  work: string | null;
  begun: number | null;
  settled: number | null;
}

/** A later tick is a missed one. */
const MISSED_AFTER_MS = 60_000;
const CATCH_UP = '24h';
/**
 * The decision about a tick begins with a look at the time and at earlier work, and its transaction may wait meanwhile. The
 * clocks of processes differ.
 */
const TOLERANCE_MS = 2_000;

/**
 * Checks that each tick of each schedule was published once, with its artifact, or skipped for a reason that its rules give. A
 * paused schedule is checked up to its last decision. All work has ended, and no schedule has changed.
 */
export const tickBreaches = (rows: Rows, acknowledged: ReadonlySet<string>): Promise<string[]> =>
  breachesIn(rows, acknowledged, true);

/**
 * Checks the same while schedules tick, also after a crash, for the ticks up to the last decision of each schedule. Only at the
 * end is it known that later ones were decided, and that those in a queue were published.
 */
export const ticksDuringWork = (rows: Rows, acknowledged: ReadonlySet<string>): Promise<string[]> =>
  breachesIn(rows, acknowledged, false);

async function breachesIn(rows: Rows, acknowledged: ReadonlySet<string>, isEnd: boolean): Promise<string[]> {
  const schedules = await rows<Row>(
    `select name, options, created_at, position, paused_at
     from schedules s join schedule_versions v on v.schedule = s.name and v.version = s.version`,
  );
  const ticks = await rows<Tick>(
    `select t.schedule, t.scheduled_for as at, t.state, t.reason, t.decided_at as decided, t.correlation_id as correlation,
       a.id as artifact, a.seq as place, ${jsonField('a.payload', 'scheduled_for')} as payload, a.tags,
       c.state as work, c.started_at as begun, c.settled_at as settled
     from schedule_ticks t
       left join artifacts a on a.id = t.artifact_id and a.correlation_id = t.correlation_id and a.produced_by = 'schedule'
       left join correlations c on c.id = t.correlation_id
     order by t.scheduled_for`,
  );
  const byName = Map.groupBy(ticks, ({ schedule }) => schedule);
  const [published] = await rows<{ count: number }>(
    `select count(*) as count from artifacts where produced_by = 'schedule'`,
  );
  const due = ticks.filter(({ state }) => state === 'published').length;
  return [
    ...[...acknowledged]
      .filter((name) => !schedules.some((row) => row.name === name))
      .map((name) => `schedule ${name} was acknowledged and is lost`),
    ...schedules.flatMap((row) => breachesOf(row, byName.get(row.name) ?? [], isEnd)),
    ...(published!.count === due ? [] : [`${published!.count} artifacts of ${due} ticks were published`]),
  ];
}

function breachesOf(
  { name, options: text, created_at: created, position, paused_at: paused }: Row,
  own: Tick[],
  isEnd: boolean,
): string[] {
  const options = JSON.parse(text) as ScheduleOptions;
  const last = isEnd && paused === null ? Date.parse(options.until!) : position;
  const due = dueTimes(options, created, last);
  const times = new Set(own.map(({ at }) => at));
  const dueSet = new Set(due);
  const past = new Past();
  return [
    ...due.filter((at) => !times.has(at)).map((at) => `tick ${at} of ${name} was not decided`),
    ...own
      .filter(({ at }, index) => !dueSet.has(at) || own[index - 1]?.at === at)
      .map(({ at }) => `tick ${at} of ${name} was decided, and was not due`),
    ...own.flatMap((tick, index) => {
      const next = own[index + 1]?.at ?? dueTimes(options, tick.at, tick.at + 2 * MISSED_AFTER_MS)[0];
      if (!isEnd && tick.state === 'queued') return [];
      const why = wrongly(tick, options, next, past, paused) ?? past.wrongly(tick, options.overlap ?? 'allow');
      past.add(tick);
      return why === null ? [] : [`tick ${tick.at} of ${name} ${why}: ${JSON.stringify(tick)}`];
    }),
  ];
}

/** Returns how a decision breaks the rules of its schedule, as far as earlier work does not matter. `next`: the next tick. */
function wrongly(
  tick: Tick,
  options: ScheduleOptions,
  next: number | undefined,
  past: Past,
  paused: number | null,
): string | null {
  const { at, state, reason, decided } = tick;
  const late = decided - at;
  if (state === 'published') return wrongArtifact(tick, options) ?? (options.overlap === 'queue' ? null : tooLate());
  if (state !== 'skipped') return `is ${state}`;
  if (reason === 'the schedule was paused') return decided === paused ? null : 'was not decided by the pause';
  if (reason === 'missed') return options.missed === 'skip' && late > MISSED_AFTER_MS ? null : 'was not missed';
  if (reason === 'missed, and older than catch_up') return late > catchUp() ? null : 'is not older than catch_up';
  const later = /^missed; the tick of (\S+) is later$/.exec(reason!)?.[1];
  if (later !== undefined)
    return options.missed === 'run_last' &&
      late > MISSED_AFTER_MS &&
      Date.parse(later) === next &&
      next <= decided + TOLERANCE_MS
      ? null
      : 'was not missed before a later one';
  const correlation = /^correlation (\S+) of an earlier tick is still active$/.exec(reason!)?.[1];
  if (correlation === undefined) return 'was skipped for an unknown reason';
  if (options.overlap !== 'skip' || !past.wasActive(correlation, decided)) return 'does not overlap';
  return tooLate();

  function tooLate(): string | null {
    if (late <= MISSED_AFTER_MS + TOLERANCE_MS) return null;
    if (late > catchUp() + TOLERANCE_MS) return 'is older than catch_up';
    if (options.missed === 'skip') return 'was missed';
    const isLast = next === undefined || next > decided - TOLERANCE_MS;
    return options.missed === 'run_last' && !isLast ? 'was missed, and is not the last one' : null;
  }

  function catchUp(): number {
    return msOf(options.catch_up ?? CATCH_UP);
  }
}

function wrongArtifact({ schedule, at, artifact, payload, tags }: Tick, { publishes }: ScheduleOptions): string | null {
  if (artifact === null) return 'has no artifact';
  const digits = artifact.replaceAll('-', '');
  if (parseInt(digits.slice(0, 12), 16) !== at || digits[12] !== '7') return 'has an id of another time';
  if (publishes.payload === undefined && payload !== new Date(at).toISOString())
    return 'has the payload of another time';
  return tags?.includes(`"schedule:${schedule}"`) ? null : 'has no tag of its schedule';
}

/** The published ticks before one of a schedule. */
class Past {
  private readonly byCorrelation = new Map<string, Tick>();
  private last: Tick | null = null;
  /** When the work of all of them had ended. */
  private settled = -Infinity;

  add(tick: Tick): void {
    if (tick.state !== 'published') return;
    this.byCorrelation.set(tick.correlation!, tick);
    this.last = tick;
    this.settled = Math.max(this.settled, tick.settled ?? Infinity);
  }

  wasActive(correlation: string, time: number): boolean {
    const tick = this.byCorrelation.get(correlation);
    return (
      tick !== undefined && tick.begun! <= time + TOLERANCE_MS && (tick.settled ?? Infinity) >= time - TOLERANCE_MS
    );
  }

  /** Returns how a published tick breaks the rules for earlier work. */
  wrongly({ state, place, begun }: Tick, overlap: string): string | null {
    const { last } = this;
    if (state !== 'published' || last === null) return null;
    if (place! < last.place!) return 'was published before an earlier one';
    if (overlap !== 'allow' && this.settled > begun! + TOLERANCE_MS) return 'overlaps with the work of an earlier one';
    if (last.work !== 'cancelled') return null;
    const isItsWork = overlap === 'cancel_running' && Math.abs(last.settled! - begun!) <= TOLERANCE_MS;
    return isItsWork ? null : `is not why the work of ${last.at} was cancelled`;
  }
}
