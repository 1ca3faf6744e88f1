import { setTimeout } from 'node:timers/promises';

import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import { INTERRUPTED } from './abort-on-sigint.js';
import { ClientError } from './client-errors.js';
import { oneLine } from './printing/safe-text.js';
import { count, cut } from './printing/texts.js';
import { type Progress, progressOf, summaryOf } from './progress.js';
import { saveResults } from './results-file.js';
import { isUnavailable, retryWhileUnavailable } from './retry-while-unavailable.js';
import type { Server } from './server.js';
import { typedCommand } from './typed-command.js';

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
  const progress = progressOf('rows');
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

const FIRST_LOOK_MS = 250;
const LOOK_MS = 1_000;

export const lookAt = (server: Server, id: string, signal?: AbortSignal): Promise<BatchBody> =>
  server.get<BatchBody>(`/batch/${encodeURIComponent(id)}?results_limit=0`, signal);

/** Shows the progress of a batch until it has ended, also across a restart of the server. */
async function watchBatch(
  server: Server,
  first: BatchBody,
  progress: Progress,
  signal: AbortSignal,
): Promise<BatchBody> {
  let batch = first;
  // The time without a server must not count in the measured speed.
  const interrupted = (line: string): void => {
    progress.say(line);
    progress.forgetThroughput();
  };
  progress.show(batch);
  for (
    let pause = FIRST_LOOK_MS;
    batch.status === 'starting' || batch.status === 'running';
    pause = Math.min(2 * pause, LOOK_MS)
  ) {
    await setTimeout(pause, undefined, { signal });
    batch = await retryWhileUnavailable(() => lookAt(server, first.batch_id, signal), interrupted, signal);
    progress.show(batch);
  }
  return batch;
}

const LOOKED_AT = 20;
const MAX_SHOWN = 3;
const LONGEST = 160;

/** The most frequent errors among a batch's first failed rows, one per line. */
async function failureReasons(server: Server, { batch_id: id, failed_items: failed }: BatchBody): Promise<string[]> {
  const { results } = await server.get<BatchBody>(
    `/batch/${encodeURIComponent(id)}?results_status=failed&results_limit=${LOOKED_AT}`,
  );
  const times = new Map<string, number>();
  for (const { error = 'no reason given' } of results) times.set(error, (times.get(error) ?? 0) + 1);
  const shown = [...times].sort(([, a], [, b]) => b - a).slice(0, MAX_SHOWN);
  const rest = times.size - shown.length;
  return [
    failed > results.length ? `Why rows failed (the first ${results.length} of ${count(failed)}):` : 'Why rows failed:',
    ...shown.map(([error, rows]) => `  ${rows} x ${cut(oneLine(error), LONGEST)}`),
    ...(rest > 0 ? [`  and ${rest} other ${rest === 1 ? 'reason' : 'reasons'}`] : []),
  ];
}
