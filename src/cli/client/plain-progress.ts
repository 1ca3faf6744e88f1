import type { BatchBody } from '../../features/batches/dto/batch-body.js';
import { Pace } from './pace.js';
import type { Progress } from './progress.js';
import { percentage, progressText } from './progress-text.js';

const EVERY_MS = 10_000;

/** A line at first, and every ten seconds, for logs. */
export class PlainProgress implements Progress {
  private pace = new Pace();
  private lastLineAt = -Infinity;

  constructor(private readonly stream: NodeJS.WritableStream) {}

  show(batch: BatchBody): void {
    const now = performance.now();
    this.pace.see(batch.completed_items, now);
    if (now - this.lastLineAt < EVERY_MS) return;
    this.lastLineAt = now;
    this.say(`${percentage(batch)} ${progressText(batch, this.pace)}`);
  }

  say(line: string): void {
    this.stream.write(`${line}\n`);
  }

  forgetPace(): void {
    this.pace = new Pace();
  }

  end(): void {
    // What was said stands.
  }
}
