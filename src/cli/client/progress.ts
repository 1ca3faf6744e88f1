import { Presets, SingleBar } from 'cli-progress';

import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import { count, duration } from './printing/texts.js';

/** How far a batch or an operation is. */
export type Counts = Pick<BatchBody, 'total_items' | 'completed_items' | 'failed_items' | 'progress_percentage'>;

/** Shows progress to the user. */
export interface Progress {
  show(counts: Counts): void;
  /** Prints a line that stays. */
  say(line: string): void;
  /** Discards the measured speed, because it no longer predicts the remaining time. */
  forgetThroughput(): void;
  /** Stops updating and keeps the last state visible. */
  end(): void;
}

/**
 * On standard error, because scripts read standard output: a bar on a terminal, otherwise lines. `items`: what is
 * counted, such as `rows`.
 */
export const progressOf = (items: string): Progress =>
  process.stderr.isTTY ? new ProgressBar(process.stderr, items) : new PlainProgress(process.stderr, items);

/** Columns for the text next to the bar. */
const BESIDE = 70;
const NARROWEST = 10;
const WIDEST = 40;

/** Columns of a terminal that does not report its width. */
const USUAL_COLUMNS = 80;

/** A progress bar that is redrawn in place. */
class ProgressBar implements Progress {
  private throughput = new Throughput();
  private bar: SingleBar | null = null;

  constructor(
    private readonly stream: NodeJS.WriteStream,
    private readonly items: string,
  ) {}

  show(counts: Counts): void {
    this.throughput.see(counts.completed_items, performance.now());
    const texts = { percent: percentage(counts), text: progressText(counts, this.items, this.throughput) };
    if (this.bar) return this.bar.update(counts.completed_items, texts);
    this.bar = this.newBar();
    this.bar.start(counts.total_items, counts.completed_items, texts);
  }

  // The next update draws a new bar below the line.
  say(line: string): void {
    this.end();
    this.stream.write(`${line}\n`);
  }

  forgetThroughput(): void {
    this.throughput = new Throughput();
  }

  end(): void {
    this.bar?.stop();
    this.bar = null;
  }

  private newBar(): SingleBar {
    const options = {
      stream: this.stream,
      format: '{bar} {percent} {text}',
      barsize: Math.max(NARROWEST, Math.min(WIDEST, (this.stream.columns || USUAL_COLUMNS) - BESIDE)),
      // A longer line is cut. The terminal's line wrapping is not changed, so that an abrupt end cannot leave it in a
      // wrong state.
      linewrap: true,
      // This program handles Ctrl-C. The library would catch it without ending the process.
      gracefulExit: false,
    };
    return new SingleBar(options, Presets.shades_classic);
  }
}

const EVERY_MS = 10_000;

/** Writes a line at the start and every ten seconds, for logs. */
class PlainProgress implements Progress {
  private throughput = new Throughput();
  private lastLineAt = -Infinity;

  constructor(
    private readonly stream: NodeJS.WritableStream,
    private readonly items: string,
  ) {}

  show(counts: Counts): void {
    const now = performance.now();
    this.throughput.see(counts.completed_items, now);
    if (now - this.lastLineAt < EVERY_MS) return;
    this.lastLineAt = now;
    this.say(`${percentage(counts)} ${progressText(counts, this.items, this.throughput)}`);
  }

  say(line: string): void {
    this.stream.write(`${line}\n`);
  }

  forgetThroughput(): void {
    this.throughput = new Throughput();
  }

  end(): void {
    // The lines stay.
  }
}

const percentage = (counts: Counts): string => `${Math.floor(counts.progress_percentage)}%`;

/** `1,294/3,080 rows, 118/s, 3 failed, 15 s left`. Speed and remaining time are omitted if they are not known. */
function progressText(
  { completed_items: done, total_items: total, failed_items: failed }: Counts,
  items: string,
  throughput: Throughput,
): string {
  const rate = throughput.perSecond;
  const left = throughput.secondsFor(total - done);
  return [
    `${count(done)}/${count(total)} ${items}`,
    ...(rate === null ? [] : [`${rate < 10 ? rate.toFixed(1) : count(Math.round(rate))}/s`]),
    `${count(failed)} failed`,
    ...(left === null || done === total ? [] : [`${duration(left)} left`]),
  ].join(', ');
}

/** The result of a batch in one line. */
export function summaryOf(batch: BatchBody): string {
  const took =
    batch.started_at && batch.completed_at
      ? `, in ${duration((Date.parse(batch.completed_at) - Date.parse(batch.started_at)) / 1_000)}`
      : '';
  const error = batch.error ? ` (${batch.error})` : '';
  return `Batch ${batch.batch_id} ${batch.status}${error}: ${count(batch.completed_items)} of ${count(batch.total_items)} rows, ${count(batch.failed_items)} failed${took}`;
}

interface Sample {
  at: number;
  items: number;
}

/** Long enough to hide the pauses between requests, short enough to follow a change of speed. */
const WINDOW_MS = 15_000;

/** Measures the speed of a batch over the last seconds. */
class Throughput {
  private samples: Sample[] = [];

  /** `at`: milliseconds of a monotonic clock. */
  see(items: number, at: number): void {
    // Keeps one sample from before the window as its start.
    while (this.samples.length > 1 && at - this.samples[1]!.at >= WINDOW_MS) this.samples.shift();
    // Failed items that run again reduce the count.
    if (items < (this.samples.at(-1)?.items ?? 0)) this.samples = [];
    this.samples.push({ at, items });
  }

  /** Items per second; null if it is not known yet. */
  get perSecond(): number | null {
    const [first, last] = [this.samples[0], this.samples.at(-1)];
    return first && last && last.at > first.at ? (1_000 * (last.items - first.items)) / (last.at - first.at) : null;
  }

  /** Estimated seconds until `remaining` items are done; null if it is not known. */
  secondsFor(remaining: number): number | null {
    return this.perSecond ? remaining / this.perSecond : null;
  }
}
