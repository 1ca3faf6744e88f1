import { Injectable } from '@nestjs/common';

import type { LiveEvent } from '../../pubsub/live-event.js';
import { Signals } from '../../pubsub/signals.js';
import { Tail } from './tail.js';

/** Maximum number of characters of live events that wait for entries, in one process. */
const MOST_WAITING = 4 * 1_024 ** 2;

interface LiveEventReader {
  /** `json` is the serialised event. */
  liveEvent(event: LiveEvent, json: string): void;
  /** Called when too many events wait for entries that do not come. The reader has missed events and must end. */
  fallBehind(): void;
}

/**
 * Sends live events to the streams that want them, in order, and each after the entries of everything that was stored
 * before it, because consequences of an artifact must not be shown before the artifact. While no stream wants them,
 * none are created.
 */
@Injectable()
export class LiveEventFeed {
  private readonly readers = new Set<LiveEventReader>();
  private unsubscribe = (): void => undefined;
  private waiting: { event: LiveEvent; json: string }[] = [];
  private characters = 0;
  private isHandingOut = false;

  constructor(
    private readonly signals: Signals,
    private readonly tail: Tail,
  ) {}

  add(reader: LiveEventReader): void {
    this.readers.add(reader);
    if (this.readers.size === 1) this.unsubscribe = this.signals.liveEvent.subscribe((event) => this.emit(event));
  }

  delete(reader: LiveEventReader): void {
    if (this.readers.delete(reader) && this.readers.size === 0) this.unsubscribe();
  }

  private emit(event: LiveEvent): void {
    const json = JSON.stringify(event);
    this.waiting.push({ event, json });
    this.characters += json.length;
    if (this.characters > MOST_WAITING) this.giveUp();
    else if (!this.isHandingOut) void this.handOut();
  }

  private async handOut(): Promise<void> {
    this.isHandingOut = true;
    while (this.waiting.length > 0) {
      const before = this.waiting.length;
      await this.tail.handedOut();
      for (const { event, json } of this.waiting.splice(0, before)) {
        this.characters -= json.length;
        for (const reader of this.readers) reader.liveEvent(event, json);
      }
    }
    this.isHandingOut = false;
  }

  private giveUp(): void {
    this.waiting = [];
    this.characters = 0;
    for (const reader of [...this.readers]) reader.fallBehind();
  }
}
