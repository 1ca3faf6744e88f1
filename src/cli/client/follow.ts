import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import { INTERRUPTED } from './abort-on-sigint.js';
import { ClientError } from './client-errors.js';
import { failureReasons } from './failure-reasons.js';
import { PlainProgress } from './plain-progress.js';
import type { Progress } from './progress.js';
import { ProgressBar } from './progress-bar.js';
import { summaryOf } from './progress-text.js';
import { saveResults } from './results-file.js';
import { isUnavailable, retryWhileUnavailable } from './retry-while-unavailable.js';
import type { Server } from './server.js';
import { typedCommand } from './typed-command.js';
import { watchBatch } from './watch-batch.js';

/**
 * Watches a batch until it ends, saves its results to `out`, prints a summary and the reasons of failed rows, and sets
 * the exit code: 1 if rows failed or the batch did not complete. Ctrl-C aborts the signal, which ends only the
 * watching.
 */
export async function follow(
  server: Server,
  batch: BatchBody,
  out: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  // On standard error, because scripts read standard output.
  const progress = process.stderr.isTTY ? new ProgressBar(process.stderr) : new PlainProgress(process.stderr);
  const say = (line: string): void => progress.say(line);
  const again = typedCommand(server.url, 'batch', 'watch', batch.batch_id, ...outWords(out));
  let ended: BatchBody;
  try {
    ended = await watchAndSave(server, batch, out, progress, signal);
  } catch (error) {
    progress.end();
    if (signal.aborted) {
      say(`The batch continues. To watch it again: ${again}`);
      process.exitCode = INTERRUPTED;
      return;
    }
    throw isUnavailable(error)
      ? new ClientError(
          `${error.message}; the batch continues when the server starts again. To watch it then: ${again}`,
        )
      : error;
  }
  console.log(`${summaryOf(ended)}${out === undefined ? '' : `; results in ${out}`}`);
  process.exitCode = ended.status === 'completed' && ended.failed_items === 0 ? 0 : 1;
  if (ended.failed_items > 0) await explain(server, ended, out, say);
}

async function watchAndSave(
  server: Server,
  first: BatchBody,
  out: string | undefined,
  progress: Progress,
  signal: AbortSignal,
): Promise<BatchBody> {
  const ended = await watchBatch(server, first, progress, signal);
  progress.end();
  if (out !== undefined)
    await retryWhileUnavailable(
      () => saveResults(server, first.batch_id, out, signal),
      (line) => progress.say(line),
      signal,
    );
  return ended;
}

async function explain(
  server: Server,
  ended: BatchBody,
  out: string | undefined,
  say: (line: string) => void,
): Promise<void> {
  const { batch_id: id } = ended;
  for (const line of await failureReasons(server, ended)) say(line);
  if (out === undefined)
    say(`To save every row's result: ${typedCommand(server.url, 'batch', 'watch', id, '--out', 'results.csv')}`);
  say(`To run the failed rows again: ${typedCommand(server.url, 'batch', 'retry-failed', id, ...outWords(out))}`);
}

const outWords = (out: string | undefined): string[] => (out === undefined ? [] : ['--out', out]);
