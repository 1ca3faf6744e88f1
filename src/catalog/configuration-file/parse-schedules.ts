import { compiled } from '../../cel/language/expression-program.js';
import type { JsonObject } from '../../common/json.js';
import { scheduler } from '../../common/scheduler.js';
import type { ConfigurationOptions, Remaining } from '../agent-options.js';
import type { Catalog } from '../catalog.js';
import { describeDiagnostic, Diagnostics, Report } from '../diagnostics.js';
import type { ConfiguredSchedule, Schedule, ScheduleOptions } from '../schedules/schedule.js';
import { checkPayload, checkReferences, checkTimesAhead, type PublishesCheck } from './schedule-checks.js';
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

/**
 * Checks the types and payloads of schedules of the file, also of those that have other errors. `bodyLimitBytes` is null if
 * the setting is not valid.
 */
export async function checkSchedules(
  { schedules = {} }: Remaining<ConfigurationOptions>,
  catalog: Catalog,
  bodyLimitBytes: number | null,
  report: Report,
): Promise<void> {
  const { errors } = report;
  // The file is its operator's, so its expressions need no limit of time here.
  const evaluate = (source: string, variables: object) => Promise.resolve(compiled(source).run(variables));
  const valid = new Map(catalog.schedules.map(({ schedule }) => [schedule.name, schedule]));
  for (const [name, options] of Object.entries(schedules)) {
    const path = ['schedules', name, 'publishes'];
    checkReferences((options?.publishes ?? {}) as Partial<ScheduleOptions['publishes']>, catalog, path, errors);
    const schedule = valid.get(name);
    if (schedule && bodyLimitBytes !== null && !errors.touches(path))
      await checkPayload(schedule, { catalog, bodyLimitBytes, evaluate, now: scheduler.time() }, path, report);
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
 * Checks a schedule of a client, which ticks from `check.now` on. Returns the problems, each with its path, as one text if
 * there are any.
 */
export async function scheduleOfClient(
  name: string,
  given: JsonObject,
  check: PublishesCheck,
): Promise<ConfiguredSchedule | { problem: string }> {
  const report = new Report();
  const { errors } = report;
  const options = validateSchema<ScheduleOptions>(given, scheduleSchema, ['options'], errors);
  const schedule = defineSchedule(name, options, ['options'], errors);
  const path = ['options', 'publishes'];
  checkReferences((options.publishes ?? {}) as Partial<ScheduleOptions['publishes']>, check.catalog, path, errors);
  if (schedule) checkTimesAhead(schedule, check.now, ['options'], errors);
  if (schedule && !errors.touches(path)) await checkPayload(schedule, check, path, report);
  return schedule && errors.empty
    ? { schedule, options: options as ScheduleOptions }
    : { problem: describeAll(errors) };
}

const describeAll = (errors: Diagnostics): string =>
  errors
    .toDiagnostics(() => undefined)
    .map(describeDiagnostic)
    .join('; ');
