import type { Command } from 'commander';

import { failing } from '../../failures.js';
import { forPeople, withExamples } from '../command-options.js';

/** Adds `limit` with its commands. */
export function addLimitCommands(program: Command): void {
  const limit = program.command('limit').description('list and change the limits of a running server');
  forPeople(limit.command('list'))
    .description('list limits with what is used of them, and who waits longest')
    .action(failing(async (options: object) => (await import('./limit-actions.js')).listLimits(options)));

  withExamples(
    forPeople(limit.command('set'))
      .description('change values of a limit in all processes, until they are reset; other values stay')
      .argument('<name>', 'name of the limit')
      .option('--concurrency <n>', 'executions at the same time, or none for any number')
      .option('--rate <rate>', 'attempts in a time, such as 60/m or 5/10s, or none for any number')
      .option('--burst <n>', 'attempts of the rate that may start together')
      .action(
        failing(async (name: string, options: object) => (await import('./limit-actions.js')).setLimit(name, options)),
      ),
    ['limit set openai --concurrency 5', 'at most five executions at the same time'],
  );

  forPeople(limit.command('reset'))
    .description('give a limit the values of the configuration file again')
    .argument('<name>', 'name of the limit')
    .action(
      failing(async (name: string, options: object) => (await import('./limit-actions.js')).resetLimit(name, options)),
    );
}
