import { Presets, SingleBar } from 'cli-progress';
import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import { Throughput } from './throughput.js';
import type { Progress } from './progress.js';
import { percentage, progressText } from './progress-text.js';

/** Columns for what stands beside the bar. */
const BESIDE = 70;
const NARROWEST = 10;
const WIDEST = 40;

/** Of a terminal that does not tell. */
const USUAL_COLUMNS = 80;

/** A bar that is drawn in place. */
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

  // A bar goes on below the line, with the next look.
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
      // A longer line is cut: the terminal's own settings stay untouched, so that no end can leave it in disorder.
      linewrap: true,
      // Ctrl-C is ours; the library would take it without ending the process.
      gracefulExit: false,
    };
    return new SingleBar(options, Presets.shades_classic);
  }
}
