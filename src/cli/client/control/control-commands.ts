import type { Command } from 'commander';

import { failing } from '../../failures.js';
import { forPeople, withExamples } from '../command-options.js';

/** Adds the commands that change work that a running server has. */
export function addControlCommands(program: Command): void {
  withExamples(
    forPeople(program.command('retry'))
      .description('run a failed execution again, or all that match; exit code 1 if one cannot be retried')
      .argument('[id]', 'id of a failed execution')
      .option('--agent <name>', 'failed executions of this agent')
      .option('--failure-group <group>', 'failed executions of this group')
      .option('--error-type <type>', 'failures of this type')
      .option('--correlation-id <id>', 'failed executions of this correlation')
      .option('--from <time>', 'failed at this time or later: ISO 8601, UTC if no time zone is given')
      .option('--to <time>', 'failed at this time or earlier')
      .option('--dry-run', 'only count what matches')
      .action(
        failing(async (id: string | undefined, options: object) =>
          (await import('./retry-executions.js')).retry(id, options),
        ),
      ),
    ['retry 01a1ffed-b5d7-750a-a7d2-22dc9eb15d28', 'run one failed execution again'],
    ['retry --agent classifier --dry-run', 'count what a retry of all would run'],
  );

  withExamples(
    forPeople(program.command('cancel'))
      .description('cancel a correlation, a run or a batch; asks first if much has not ended')
      .argument('<id>', 'id of a correlation, a run or a batch')
      .option('--yes', 'do not ask')
      .action(failing(async (id: string, options: object) => (await import('./cancel.js')).cancel(id, options))),
    ['cancel order-4711', 'no further execution of this correlation starts'],
  );

  withExamples(
    forPeople(program.command('replay'))
      .description('publish what clients published in a correlation again, in a new correlation apart from live work')
      .argument('<id>', 'id of a correlation, or of an artifact of a client')
      .requiredOption(
        '--mode <mode>',
        '`full` runs every agent, `recorded` only those that have changed, `shadow` models again and nothing with effects',
      )
      .option('--configuration <name>', 'take agents from a file that the operator gave at the start under this name')
      .option('--wait', 'wait until the whole cascade has ended; exit code 1 if it did not complete')
      .action(
        failing(async (id: string, options: { mode: string; configuration?: string; wait?: true }) =>
          (await import('./replay.js')).replay(id, options),
        ),
      ),
    ['replay order-4711 --mode recorded --wait', 'run what has changed since, and wait for it'],
    ['replay order-4711 --mode shadow --wait', 'ask the models again, without effects outside'],
    ['replay order-4711 --mode recorded --configuration candidate', 'try the agents of another file'],
    ['replay 01a1ffed-b5d2-738c-bee6-f296bd753c2a --mode full', 'run everything that follows from one artifact'],
  );
}
