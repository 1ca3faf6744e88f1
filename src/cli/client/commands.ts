import { Command } from 'commander';

import { failing } from '../failures.js';
import type { BatchRunOptions } from './batch-commands.js';
import { collect, forPeople, LIMIT, toServer } from './command-options.js';
import { addControlCommands } from './control/control-commands.js';
import { addExperimentCommands } from './experiments/experiment-commands.js';
import { addInspectCommands } from './inspect/inspect-commands.js';
import { addLimitCommands } from './limits/limit-commands.js';
import type { PublishOptions } from './publish.js';
import { addScheduleCommands } from './schedules/schedule-commands.js';

/** Adds the commands that talk to a running server. */
export function addClientCommands(program: Command): void {
  toServer(program.command('publish'))
    .description('publish an artifact to a running server and print the answer')
    .argument('<type>', 'artifact type')
    .argument('<json>', 'payload: JSON, @<file>, or - for standard input')
    .option('--wait', 'wait until the whole cascade has ended, and print the artifacts that agents produced')
    .option(
      '--timeout <duration>',
      'how long --wait waits, such as 1m, or a number of seconds (1s to 5m, default: 30s)',
    )
    .option('--tag <tag>', 'tag of the artifact (repeatable)', collect)
    .option('--correlation-id <id>', 'correlation that the artifact belongs to (default: a new one)')
    .action(
      failing(async (type: string, json: string, options: PublishOptions) =>
        (await import('./publish.js')).publish(type, json, options),
      ),
    );

  toServer(program.command('run'))
    .description('run an agent and the cascade that follows, and print the run; exit code 1 if it did not complete')
    .argument('<agent>', 'name of the agent')
    .option('--inputs <json>', 'inputs of the agent: JSON, @<file>, or - for standard input (default: {})')
    .option('--async', "print the run's id and do not wait")
    .action(failing(async (agent: string, options: object) => (await import('./run-command.js')).run(agent, options)));

  addBatchCommands(
    program.command('batch').description('run an agent over the rows of a CSV file, on a running server'),
  );

  addInspectCommands(program);
  addControlCommands(program);
  addExperimentCommands(program);
  addScheduleCommands(program);
  addLimitCommands(program);
}

function addBatchCommands(batch: Command): void {
  toServer(batch.command('run'))
    .description('upload a CSV file, watch its rows, and save the results; exit code 1 if rows failed')
    .argument('<file>', 'CSV file with a header row')
    .requiredOption('--agent <name>', 'agent that runs for each row')
    .option('--max-workers <n>', 'most rows to run at the same time (1 to 1000, default: 5)')
    .option('--row-key <column>', 'rows with an equal value in this column run once')
    .option(
      '--static <json>',
      'inputs for every row, which the values of a row override: JSON, @<file>, or - for standard input',
    )
    .option('--map <column=input>', 'maps a column to an input (repeatable); other columns are dropped', collect)
    .option('--delimiter <character>', 'separator between the fields of a line, \\t for a tab (default: a comma)')
    .option(...OUT)
    .action(
      failing(async (file: string, options: BatchRunOptions) =>
        (await import('./batch-commands.js')).runBatch(file, options),
      ),
    );

  forPeople(batch.command('list'))
    .description('list batches, newest first')
    .option(...LIMIT)
    .action(failing(async (options: object) => (await import('./batch-commands.js')).listBatches(options)));

  toServer(batch.command('watch'))
    .description('watch a batch until it has ended; Ctrl-C stops only the watching')
    .argument('<id>', "the batch's id")
    .option(...OUT)
    .action(failing(async (id: string, options: object) => (await import('./batch-commands.js')).watch(id, options)));

  toServer(batch.command('retry-failed'))
    .description('run the failed rows of a batch again and watch them')
    .argument('<id>', "the batch's id")
    .option(...OUT)
    .action(
      failing(async (id: string, options: object) => (await import('./batch-commands.js')).retryFailed(id, options)),
    );

  toServer(batch.command('cancel'))
    .description('cancel a batch: running rows are stopped, and waiting rows never start')
    .argument('<id>', "the batch's id")
    .action(failing(async (id: string, options: object) => (await import('./batch-commands.js')).cancel(id, options)));
}

const OUT = [
  '--out <file>',
  'write all results to this file at the end: CSV if its name ends in .csv, otherwise NDJSON',
] as const;
