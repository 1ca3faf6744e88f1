import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import type { Progress } from './progress.js';
import { percentage, progressText } from './progress-text.js';
import { Throughput } from './throughput.js';

const EVERY_MS = 10_000;

/** Writes a line at the start and every ten seconds, for logs. */
export class PlainProgress implements Progress {
  private throughput = new Throughput();
  private lastLineAt = -Infinity;

  constructor(private readonly stream: NodeJS.WritableStream) {}

  show(batch: BatchBody): void {
    const now = performance.now();
    this.throughput.see(batch.completed_items, now);
    if (now - this.lastLineAt < EVERY_MS) return;
    this.lastLineAt = now;
    this.say(`${percentage(batch)} ${progressText(batch, this.throughput)}`);
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
