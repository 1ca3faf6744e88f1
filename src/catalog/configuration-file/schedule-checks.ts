import { checkExpression } from '../../cel/language/expression-check.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { Catalog } from '../catalog.js';
import { WORKFLOW_ERROR } from '../definitions.js';
import type { Diagnostics, Path, Report } from '../diagnostics.js';
import { GrowthLimit } from '../growth-limit.js';
import { findTick, nextTick, ticksBetween } from '../schedules/next-tick.js';
import type { Schedule, ScheduleOptions } from '../schedules/schedule.js';
import { type Evaluate, tickPayload } from '../schedules/tick-payload.js';
import { meant } from '../unknown-names.js';

const VARIABLES = ['scheduled_for'];
/** So many of the next ticks are evaluated before a schedule begins. */
const CHECKED_TICKS = 5;

/** Finds times that lie before `now` (epoch ms), so that the schedule has no further tick. */
export function checkTimesAhead(schedule: Schedule, now: number, path: Path, found: Diagnostics): void {
  const next = findTick(schedule, now);
  if (next.tick !== null || next.noneUntil !== Infinity) return;
  const { times, until } = schedule;
  const past = 'is in the past, so the schedule has no further tick; choose a later time';
  if (until !== null && until <= now) found.add([...path, 'until'], past);
  else if ('at' in times && times.at.every((time) => time <= now)) found.add([...path, 'at'], past);
  else found.add(path, 'has no further tick; change its times, until or except');
}

/** The things that a type and a payload are checked with. */
export interface PublishesCheck {
  catalog: Catalog;
  bodyLimitBytes: number;
  evaluate: Evaluate;
  /** Epoch ms. */
  now: number;
}

type Publishes = Partial<ScheduleOptions['publishes']>;

/** Finds a type that does not exist, and an expression that is wrong. `path`: of `publishes`. */
export function checkReferences(
  { type: name, payload }: Publishes,
  catalog: Catalog,
  path: Path,
  errors: Diagnostics,
): void {
  if (name === WORKFLOW_ERROR)
    errors.add([...path, 'type'], `only the service publishes ${WORKFLOW_ERROR}; choose another type`);
  else if (name !== undefined && !catalog.type(name))
    errors.add(
      [...path, 'type'],
      `is unknown: neither types nor an agent has ${name}${meant(name, catalog.types) ?? ''}`,
    );
  const wrong = typeof payload === 'string' ? checkExpression(payload, VARIABLES) : null;
  if (wrong)
    errors.add([...path, 'payload'], wrong.message, wrong.offset === undefined ? undefined : { offset: wrong.offset });
}

/**
 * Finds a payload that its type refuses: an error if it is so at each of the next ticks, because a start must not depend on
 * which of them comes next, and otherwise a warning. `checkReferences` has found nothing.
 */
export async function checkPayload(
  schedule: Schedule,
  { catalog, bodyLimitBytes, evaluate, now }: PublishesCheck,
  path: Path,
  { errors, warnings }: Report,
): Promise<void> {
  const { type, payload } = schedule.publishes;
  const next = ticksBetween(schedule, now, Infinity, CHECKED_TICKS);
  // All ticks of a schedule of the past have passed.
  const ticks = next.length > 0 ? next : [nextTick(schedule, -1)!];
  const refused: { tick: number; problem: string }[] = [];
  for (const tick of ticks) {
    const made = await tickPayload(schedule, tick, evaluate);
    const accepted =
      'problem' in made ? made : catalog.type(type)!.accept(made.payload, new GrowthLimit(bodyLimitBytes));
    if ('problem' in accepted) refused.push({ tick, problem: accepted.problem });
  }
  const [first] = refused;
  if (!first) return;
  const place = payload === null ? path : [...path, 'payload'];
  const forTick = `${first.problem} (for the tick of ${toTimestamp(first.tick)})`;
  if (refused.length < ticks.length) warnings.add(place, `${forTick}; this tick will fail`);
  else errors.add(place, typeof payload === 'string' ? forTick : first.problem);
}
