import type { BatchBody } from '../../batches/dto/batch-body.js';
import { DEFAULT_SERVER_URL } from '../../config/server-url.js';
import { patiently } from './patiently.js';
import { PlainProgress } from './plain-progress.js';
import { ProgressBar } from './progress-bar.js';
import type { Progress } from './progress.js';
import { summaryOf } from './progress-text.js';
import { saveResults } from './results-file.js';
import type { Server } from './server.js';
import { watchBatch } from './watch-batch.js';

/** As shells count the end by Ctrl-C. */
const INTERRUPTED = 130;

/**
 * Watches a batch to its end, saves its results to `out`, prints a line that sums it up, and sets the exit code: 1 where rows
 * failed or it did not complete. Ctrl-C ends the watching alone.
 */
export async function follow(server: Server, batch: BatchBody, out: string | undefined): Promise<void> {
  const interruption = new AbortController();
  const interrupt = (): void => interruption.abort();
  // Stays on: npm passes a terminal's Ctrl-C on, and the second one of the same keystroke must not kill.
  process.on('SIGINT', interrupt);
  // Beside the output, which scripts read.
  const progress = process.stderr.isTTY ? new ProgressBar(process.stderr) : new PlainProgress(process.stderr);
  try {
    const ended = await watchAndSave(server, batch, out, progress, interruption.signal);
    console.log(`${summaryOf(ended)}${out === undefined ? '' : `; results in ${out}`}`);
    process.exitCode = ended.status === 'completed' && ended.failed_items === 0 ? 0 : 1;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    progress.say(`The batch goes on. To watch it again: ${watchCommand(server, batch.batch_id, out)}`);
    process.exitCode = INTERRUPTED;
  } finally {
    progress.end();
  }
}

async function watchAndSave(server: Server, first: BatchBody, out: string | undefined, progress: Progress, signal: AbortSignal): Promise<BatchBody> {
  const ended = await watchBatch(server, first, progress, signal);
  progress.end();
  if (out !== undefined) await patiently(() => saveResults(server, first.batch_id, out, signal), (line) => progress.say(line), signal);
  return ended;
}

function watchCommand(server: Server, id: string, out: string | undefined): string {
  const url = server.url === DEFAULT_SERVER_URL ? [] : ['--url', server.url];
  return ['starling', 'batch', 'watch', id, ...(out === undefined ? [] : ['--out', out]), ...url].map(shellWord).join(' ');
}

const shellWord = (word: string): string => (/^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
