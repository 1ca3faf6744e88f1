import { Presets, SingleBar } from 'cli-progress';

import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import type { Progress } from './progress.js';
import { percentage, progressText } from './progress-text.js';
import { Throughput } from './throughput.js';

/** Columns for the text next to the bar. */
const BESIDE = 70;
const NARROWEST = 10;
const WIDEST = 40;

/** Columns of a terminal that does not report its width. */
const USUAL_COLUMNS = 80;

/** A progress bar that is redrawn in place. */
export class ProgressBar implements Progress {
  private throughput = new Throughput();
  private bar: SingleBar | null = null;

  constructor(private readonly stream: NodeJS.WriteStream) {}

  show(batch: BatchBody): void {
    this.throughput.see(batch.completed_items, performance.now());
    const texts = { percent: percentage(batch), text: progressText(batch, this.throughput) };
    if (this.bar) return this.bar.update(batch.completed_items, texts);
    this.bar = this.newBar();
    this.bar.start(batch.total_items, batch.completed_items, texts);
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
