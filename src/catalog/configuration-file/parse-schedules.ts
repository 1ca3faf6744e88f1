import { compiled } from '../../cel/language/expression-program.js';
import type { JsonObject } from '../../common/json.js';
import { scheduler } from '../../common/scheduler.js';
import type { ConfigurationOptions, Remaining } from '../agent-options.js';
import type { Catalog } from '../catalog.js';
import { describeDiagnostic, Diagnostics, type Report } from '../diagnostics.js';
import type { ConfiguredSchedule, Schedule, ScheduleOptions } from '../schedules/schedule.js';
import { checkPublishes, checkTimesAhead, type PublishesCheck } from './schedule-checks.js';
import { defineSchedule } from './schedule-definition.js';
import { scheduleSchema } from './schedule-schema.js';
import { validateSchema } from './schema-validation.js';

/**
 * Returns the valid schedules of the file. The others are errors. One without a further tick is only a warning, because
 * files outlive their times.
 */
export function schedulesInFile(
  configuration: Remaining<ConfigurationOptions>,
  { errors, warnings }: Report,
): ConfiguredSchedule[] {
  return Object.entries(configuration.schedules ?? {}).flatMap(([name, options = {}]) => {
    const path = ['schedules', name];
    const schedule = defineSchedule(name, options, path, errors);
    if (schedule) checkTimesAhead(schedule, scheduler.time(), path, warnings);
    return schedule ? [{ schedule, options: options as ScheduleOptions }] : [];
  });
}

/** Checks the types and payloads of schedules of the file. `bodyLimitBytes` is null if the setting is not valid. */
export async function checkSchedules(
  catalog: Catalog,
  bodyLimitBytes: number | null,
  errors: Diagnostics,
): Promise<void> {
  if (bodyLimitBytes === null) return;
  // The file is its operator's, so its expressions need no limit of time here.
  const evaluate = (source: string, variables: object) => Promise.resolve(compiled(source).run(variables));
  for (const { schedule } of catalog.schedules) {
    const path = ['schedules', schedule.name, 'publishes'];
    await checkPublishes(schedule, { catalog, bodyLimitBytes, evaluate }, path, errors);
  }
}

/** Makes a schedule from options that were checked when they were stored. */
export function storedSchedule(name: string, options: ScheduleOptions): Schedule {
  const errors = new Diagnostics();
  const schedule = defineSchedule(name, options, [], errors);
  if (!schedule) throw new Error(`schedule ${name}: ${describeAll(errors)}`);
  return schedule;
}

/**
 * Checks a schedule of a client, which ticks from `now` (epoch ms) on. Returns the problems, each with its path, as one
 * text if there are any.
 */
export async function scheduleOfClient(
  name: string,
  given: JsonObject,
  now: number,
  check: PublishesCheck,
): Promise<ConfiguredSchedule | { problem: string }> {
  const errors = new Diagnostics();
  const options = validateSchema<ScheduleOptions>(given, scheduleSchema, ['options'], errors);
  const schedule = defineSchedule(name, options, ['options'], errors);
  if (schedule) {
    checkTimesAhead(schedule, now, ['options'], errors);
    await checkPublishes(schedule, check, ['options', 'publishes'], errors);
  }
  return schedule && errors.empty
    ? { schedule, options: options as ScheduleOptions }
    : { problem: describeAll(errors) };
}

const describeAll = (errors: Diagnostics): string =>
  errors
    .toDiagnostics(() => undefined)
    .map(describeDiagnostic)
    .join('; ');
