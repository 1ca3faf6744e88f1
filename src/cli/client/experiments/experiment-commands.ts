import type { Command } from 'commander';

import { failing } from '../../failures.js';
import { forPeople, LIMIT, withExamples } from '../command-options.js';

/** Adds `experiment` with its commands. */
export function addExperimentCommands(program: Command): void {
  const experiment = program
    .command('experiment')
    .description('try variants of agents on the rows of a data set, on a running server');

  withExamples(
    forPeople(experiment.command('run'))
      .description(
        'start the experiment of a file, watch it, and print what it found; exit code 1 if it did not complete or missed a threshold of the file',
      )
      .argument('<file>', 'YAML or JSON file with the experiment and its thresholds')
      .option(...OUT)
      .action(
        failing(async (file: string, options: object) =>
          (await import('./run-experiment.js')).runExperiment(file, options),
        ),
      ),
    ['experiment run alpha.yaml --out rows.csv', 'keep the output and the scores of every row'],
  );

  forPeople(experiment.command('watch'))
    .description('watch an experiment until it has ended, and print what it found; Ctrl-C stops only the watching')
    .argument('<id>', "the experiment's id")
    .option(...OUT)
    .action(
      failing(async (id: string, options: object) =>
        (await import('./run-experiment.js')).watchExperiment(id, options),
      ),
    );

  forPeople(experiment.command('list'))
    .description('list experiments, newest first')
    .option(...LIMIT)
    .action(failing(async (options: object) => (await import('./list-experiments.js')).listExperiments(options)));

  forPeople(experiment.command('cancel'))
    .description('cancel an experiment: what runs is cancelled, and other rows never start')
    .argument('<id>', "the experiment's id")
    .action(
      failing(async (id: string, options: object) =>
        (await import('./list-experiments.js')).cancelExperiment(id, options),
      ),
    );
}

const OUT = [
  '--out <file>',
  'write all rows to this file at the end: CSV if its name ends in .csv, otherwise NDJSON',
] as const;
