import { setTimeout as delay } from 'node:timers/promises';

import type { Random } from '../../support/random.js';
import type { HistoryRecorder } from './history-recorder.js';
import type { Replica } from './replica.js';

const LONGEST_PAUSE_MS = 100;
const GIVE_UP_AFTER_MS = 3_000;

/** Reads the changelog page by page, from any replica that is up, and at times from the beginning again. */
export class PageReader {
  private isReading = true;
  private readonly reading: Promise<void>;

  constructor(
    private readonly replicas: readonly Replica[],
    private readonly random: Random,
    private readonly recorder: HistoryRecorder,
  ) {
    this.reading = this.readOn();
  }

  async stop(): Promise<void> {
    this.isReading = false;
    await this.reading;
  }

  private async readOn(): Promise<void> {
    let position = 0;
    while (this.isReading) {
      if (this.random.next() < 0.02) position = 0;
      position = (await this.read(position)) ?? position;
      await delay(this.random.between(0, LONGEST_PAUSE_MS));
    }
  }

  /** Returns the position of the last entry; null without one. */
  private async read(after: number): Promise<number | null> {
    const up = this.replicas.filter(({ isUp }) => isUp);
    const replica = up[this.random.between(0, up.length - 1)];
    if (!replica) return null;
    const recorded = this.recorder.begin('read', 'changelog', { after });
    try {
      const response = await fetch(`${replica.url}/api/v1/changelog/events?after=${after}&limit=200`, {
        signal: AbortSignal.timeout(GIVE_UP_AFTER_MS),
      });
      if (response.status !== 200) throw new Error(await response.text());
      const { items } = (await response.json()) as { items: { seq: number; artifact_id: string }[] };
      recorded.ok({ entries: items.map(({ seq, artifact_id: id }) => [seq, id]) });
      return items.at(-1)?.seq ?? null;
    } catch {
      // The replica was killed or stopped, or has no database now.
      recorded.fail();
      return null;
    }
  }
}
