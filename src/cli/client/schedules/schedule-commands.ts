import type { Command } from 'commander';

import { failing } from '../../failures.js';
import { forPeople, LIMIT, withExamples } from '../command-options.js';

/** Adds `schedule` with its commands. */
export function addScheduleCommands(program: Command): void {
  const schedule = program.command('schedule').description('list, preview and backfill schedules of a running server');
  forPeople(schedule.command('list'))
    .description('list schedules with their next and their last tick')
    .option(...LIMIT)
    .action(failing(async (options: object) => (await import('./schedule-actions.js')).listSchedules(options)));

  forPeople(schedule.command('preview'))
    .description('print the next ticks of a schedule, in UTC and in local time')
    .argument('<name>', 'name of the schedule')
    .option('--count <n>', 'how many to print (1 to 1000, default: 20)')
    .action(
      failing(async (name: string, options: object) =>
        (await import('./schedule-actions.js')).previewSchedule(name, options),
      ),
    );

  withExamples(
    forPeople(schedule.command('backfill'))
      .description('publish the ticks of the past that are not published, and print them')
      .argument('<name>', 'name of the schedule')
      .requiredOption(
        '--from <time>',
        'the first possible tick: a date in the zone of the schedule, or ISO 8601, UTC if no time zone is given',
      )
      .requiredOption('--to <time>', 'the last possible tick; a date includes the whole day')
      .option('--dry-run', 'only print them')
      .action(
        failing(async (name: string, options: { from: string; to: string; dryRun?: boolean }) =>
          (await import('./schedule-actions.js')).backfillSchedule(name, options),
        ),
      ),
    ['schedule backfill daily-report --from 2026-11-01 --to 2026-11-08 --dry-run', 'list what a backfill publishes'],
  );
}
