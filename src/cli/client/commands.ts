import { Command } from 'commander';
import { failing } from '../failures.js';
import type { BatchRunOptions } from './batch-run.js';
import type { PublishOptions } from './publish.js';

/** Commands that talk to a running server. */
export function addClientCommands(program: Command): void {
  toServer(program.command('publish'))
    .description('publish an artifact to a running server, and print its answer')
    .argument('<type>', 'artifact type')
    .argument('<json>', 'payload: JSON, @<file>, or - for standard input')
    .option('--wait', 'wait until the whole cascade has ended, and print what agents made')
    .option('--timeout <seconds>', 'how long --wait waits (1 to 300, default: 30)')
    .option('--tag <tag>', 'tag of the artifact (repeatable)', collect)
    .option('--correlation-id <id>', 'correlation that the artifact belongs to (default: a new one)')
    .action(failing(async (type: string, json: string, options: PublishOptions) => (await import('./publish.js')).publish(type, json, options)));

  toServer(program.command('run'))
    .description('run an agent and the cascade that follows, and print the run; exit code 1 where it did not complete')
    .argument('<agent>', 'name of the agent')
    .option('--inputs <json>', 'what the agent starts with: JSON, @<file>, or - for standard input (default: {})')
    .option('--async', "print the run's id at once")
    .action(failing(async (agent: string, options: object) => (await import('./run-command.js')).run(agent, options)));

  addBatchCommands(program.command('batch').description('run an agent over the rows of a CSV file, on a running server'));
}

function addBatchCommands(batch: Command): void {
  toServer(batch.command('run'))
    .description('upload a CSV file, watch its rows, and save the results; exit code 1 where rows failed')
    .argument('<file>', 'CSV file with a header row')
    .requiredOption('--agent <name>', 'agent that runs for each row')
    .option('--max-workers <n>', 'most rows at a time (1 to 1000, default: 5)')
    .option('--row-key <column>', 'rows with an equal value in this column run once')
    .option('--static <json>', 'inputs of every row, which its own values win over: JSON, @<file>, or - for standard input')
    .option('--map <column=input>', 'input that a column becomes (repeatable); columns that are not named are left out', collect)
    .option('--delimiter <character>', 'what separates the fields of a line, \\t for a tab (default: a comma)')
    .option(...OUT)
    .action(failing(async (file: string, options: BatchRunOptions) => (await import('./batch-run.js')).runBatch(file, options)));

  toServer(batch.command('list'))
    .description('print the newest batches, a line each, the newest first')
    .action(failing(async (options: object) => (await import('./batch-list.js')).listBatches(options)));

  toServer(batch.command('watch'))
    .description('watch a batch until it has ended; Ctrl-C stops the watching alone')
    .argument('<id>', "the batch's id")
    .option(...OUT)
    .action(failing(async (id: string, options: object) => (await import('./batch-existing.js')).watch(id, options)));

  toServer(batch.command('retry-failed'))
    .description('run the failed rows of a batch again, and watch them')
    .argument('<id>', "the batch's id")
    .option(...OUT)
    .action(failing(async (id: string, options: object) => (await import('./batch-existing.js')).retryFailed(id, options)));

  toServer(batch.command('cancel'))
    .description('cancel a batch: what runs is stopped, and waiting rows never start')
    .argument('<id>', "the batch's id")
    .action(failing(async (id: string, options: object) => (await import('./batch-existing.js')).cancel(id, options)));
}

const OUT = ['--out <file>', 'write all results to this file at the end: CSV where it ends in .csv, else a JSON document a line'] as const;

const toServer = (command: Command): Command => command.option('--url <base>', 'address of the server (default: http://127.0.0.1:8344, env: STARLING_URL)');

const collect = (value: string, before: string[] = []): string[] => [...before, value];
