import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

import type { ExperimentBody } from '../../../features/experiments/dto/experiment-body.js';
import { abortOnSigint, INTERRUPTED } from '../abort-on-sigint.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { idIn } from '../look-up.js';
import type { Output } from '../printing/output.js';
import { progressOf } from '../progress.js';
import { isCsvName, refuseUnwritable, saveText } from '../results-file.js';
import { retryWhileUnavailable } from '../retry-while-unavailable.js';
import type { Server } from '../server.js';
import { typedCommand } from '../typed-command.js';
import { readExperimentFile } from './experiment-file.js';
import { rowsText } from './rows-file.js';
import { printSummary } from './summary-tables.js';
import { missedBy, type Threshold } from './thresholds.js';

const FIRST_LOOK_MS = 50;
const LOOK_MS = 1_000;

type WatchOptions = ClientOptions & { out?: string };

/** Starts the experiment of a file and watches it. Sets the exit code 1 if it does not complete or misses a threshold. */
export async function runExperiment(file: string, { out, ...options }: WatchOptions): Promise<void> {
  const { server, output } = connectionOf(options);
  const { request, thresholds } = await readExperimentFile(file);
  if (out !== undefined) await refuseUnwritable(out);
  const signal = abortOnSigint();
  // All tries have the same key, so that a lost answer does not start a second experiment.
  const headers = { 'X-Idempotency-Key': randomUUID() };
  const { body: started } = await retryWhileUnavailable(
    () => server.post<ExperimentBody>('/api/v1/experiments', request, headers, signal),
    console.error,
    signal,
  );
  output.hint(`Experiment ${started.experiment_id}`);
  await follow({ server, output, out, thresholds }, started, signal);
}

/** Watches an experiment until it has ended, and prints what it found. */
export async function watchExperiment(id: string, { out, ...options }: WatchOptions): Promise<void> {
  const { server, output } = connectionOf(options);
  if (out !== undefined) await refuseUnwritable(out);
  const started = await server.get<ExperimentBody>(idIn('/api/v1/experiments/{id}', id));
  await follow({ server, output, out, thresholds: [] }, started, abortOnSigint());
}

interface Following {
  server: Server;
  output: Output;
  out: string | undefined;
  thresholds: readonly Threshold[];
}

async function follow(
  { server, output, out, thresholds }: Following,
  started: ExperimentBody,
  signal: AbortSignal,
): Promise<void> {
  let ended: ExperimentBody;
  try {
    ended = await untilEnded(server, started, signal);
    if (out !== undefined) await saveText(server, rowsText(server, ended, isCsvName(out)), out, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    const again = typedCommand(server.url, 'experiment', 'watch', started.experiment_id);
    output.hint(`The experiment continues. To watch it again: ${again}`);
    process.exitCode = INTERRUPTED;
    return;
  }
  await printSummary(output, ended);
  if (out !== undefined) output.hint(`All rows are in ${out}`);
  const missed = missedBy(ended, thresholds);
  for (const sentence of missed) output.hint(`Missed: ${sentence}`);
  process.exitCode = ended.state === 'completed' && missed.length === 0 ? 0 : 1;
}

/** Shows the progress until the experiment has ended, also across a restart of the server. */
async function untilEnded(server: Server, started: ExperimentBody, signal: AbortSignal): Promise<ExperimentBody> {
  const progress = progressOf('trials');
  const path = idIn('/api/v1/experiments/{id}', started.experiment_id);
  let experiment = started;
  try {
    for (let pause = FIRST_LOOK_MS; experiment.state === 'running'; pause = Math.min(2 * pause, LOOK_MS)) {
      progress.show(countsOf(experiment));
      await setTimeout(pause, undefined, { signal });
      experiment = await retryWhileUnavailable(
        () => server.get<ExperimentBody>(path, signal),
        (line) => progress.say(line),
        signal,
      );
    }
    progress.show(countsOf(experiment));
  } finally {
    progress.end();
  }
  return experiment;
}

const countsOf = ({ total_trials, ended_trials, failed_trials, progress_percentage }: ExperimentBody) => ({
  total_items: total_trials,
  completed_items: ended_trials,
  failed_items: failed_trials,
  progress_percentage,
});
