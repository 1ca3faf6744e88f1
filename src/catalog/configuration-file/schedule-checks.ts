import { checkExpression } from '../../cel/language/expression-check.js';
import type { Catalog } from '../catalog.js';
import { WORKFLOW_ERROR } from '../definitions.js';
import type { Diagnostics, Path } from '../diagnostics.js';
import { GrowthLimit } from '../growth-limit.js';
import { findTick, nextTick } from '../schedules/next-tick.js';
import type { Schedule } from '../schedules/schedule.js';
import { type Evaluate, tickPayload } from '../schedules/tick-payload.js';
import { meant } from '../unknown-names.js';

const VARIABLES = ['scheduled_for'];

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
}

/** Finds a type that does not exist, and a payload that its type refuses at the first tick. */
export async function checkPublishes(
  schedule: Schedule,
  { catalog, bodyLimitBytes, evaluate }: PublishesCheck,
  path: Path,
  errors: Diagnostics,
): Promise<void> {
  const { type: name, payload } = schedule.publishes;
  const type = catalog.type(name);
  if (name === WORKFLOW_ERROR)
    return errors.add([...path, 'type'], `only the service publishes ${WORKFLOW_ERROR}; choose another type`);
  if (!type)
    return errors.add(
      [...path, 'type'],
      `is unknown: neither types nor an agent has ${name}${meant(name, catalog.types) ?? ''}`,
    );
  const at = payload === null ? path : [...path, 'payload'];
  const wrong = typeof payload === 'string' ? checkExpression(payload, VARIABLES) : null;
  if (wrong) return errors.add(at, wrong.message, wrong.offset === undefined ? undefined : { offset: wrong.offset });
  const made = await tickPayload(schedule, nextTick(schedule, -1)!, evaluate);
  const accepted = 'problem' in made ? made : type.accept(made.payload, new GrowthLimit(bodyLimitBytes));
  if ('problem' in accepted) errors.add(at, accepted.problem);
}
