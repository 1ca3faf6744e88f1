import { Injectable } from '@nestjs/common';
import type { Notice } from '../../pubsub/notice.js';
import { Signals } from '../../pubsub/signals.js';
import { Tail } from './tail.js';

/** Characters of notices that wait for entries, in one process. */
const MOST_WAITING = 4 * 1_024 ** 2;

interface NoticeReader {
  /** `json`: the notice as it goes out. */
  notice(notice: Notice, json: string): void;
  /** It cannot be told any more: too much waits for entries that do not come. */
  fallBehind(): void;
}

/**
 * Hands notices to the streams that ask for them, in their order, and each after the entries of all that was stored before it: what follows
 * from an artifact must not be shown before the artifact. While no stream asks, it hears of none, and none is made.
 */
@Injectable()
export class NoticeFeed {
  private readonly readers = new Set<NoticeReader>();
  private unsubscribe = (): void => undefined;
  private waiting: { notice: Notice; json: string }[] = [];
  private characters = 0;
  private isHandingOut = false;

  constructor(
    private readonly signals: Signals,
    private readonly tail: Tail,
  ) {}

  add(reader: NoticeReader): void {
    this.readers.add(reader);
    if (this.readers.size === 1) this.unsubscribe = this.signals.notice.subscribe((notice) => this.tell(notice));
  }

  delete(reader: NoticeReader): void {
    if (this.readers.delete(reader) && this.readers.size === 0) this.unsubscribe();
  }

  private tell(notice: Notice): void {
    const json = JSON.stringify(notice);
    this.waiting.push({ notice, json });
    this.characters += json.length;
    if (this.characters > MOST_WAITING) this.giveUp();
    else if (!this.isHandingOut) void this.handOut();
  }

  private async handOut(): Promise<void> {
    this.isHandingOut = true;
    while (this.waiting.length > 0) {
      const before = this.waiting.length;
      await this.tail.handedOut();
      for (const { notice, json } of this.waiting.splice(0, before)) {
        this.characters -= json.length;
        for (const reader of this.readers) reader.notice(notice, json);
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
