import { Injectable } from '@nestjs/common';
import type { Notice } from '../../pubsub/notice.js';
import { Signals } from '../../pubsub/signals.js';

interface NoticeReader {
  /** `json`: the notice as it goes out. */
  notice(notice: Notice, json: string): void;
}

/** Hands notices to the streams that ask for them; while none does, it hears of none, and none is made. */
@Injectable()
export class NoticeFeed {
  private readonly readers = new Set<NoticeReader>();
  private unsubscribe = (): void => undefined;

  constructor(private readonly signals: Signals) {}

  add(reader: NoticeReader): void {
    this.readers.add(reader);
    if (this.readers.size === 1) this.unsubscribe = this.signals.notice.subscribe((notice) => this.tell(notice));
  }

  delete(reader: NoticeReader): void {
    if (this.readers.delete(reader) && this.readers.size === 0) this.unsubscribe();
  }

  private tell(notice: Notice): void {
    const json = JSON.stringify(notice);
    for (const reader of this.readers) reader.notice(notice, json);
  }
}
