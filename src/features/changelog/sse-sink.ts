import type { Socket } from 'node:net';

import type { Response } from 'express';

import type { EntryBatch, GapEntry } from './entry.js';
import { Sink } from './sink.js';

const RECONNECT_AFTER_MS = 1_000;

/**
 * Writes server-sent events (WHATWG HTML, section 9.2). An `id` without data sets the position to resume from, without
 * an event.
 */
export class SseSink extends Sink {
  constructor(
    socket: Socket,
    private readonly response: Response,
  ) {
    super(socket);
  }

  opened(position: number): void {
    this.write(`: entries behind ${position}\nretry: ${RECONNECT_AFTER_MS}\nid: ${position}\n\n`);
  }

  entries(batch: EntryBatch): void {
    this.write(batch.events);
  }

  gap(gap: GapEntry): void {
    this.write(`id: ${gap.seq}\ndata: ${JSON.stringify(gap)}\n\n`);
  }

  liveEvent(name: string, json: string): void {
    this.write(`event: ${name}\ndata: ${json}\n\n`);
  }

  beat(position: number): boolean {
    this.write(`: still here\nid: ${position}\n\n`);
    return true;
  }

  end(): void {
    this.response.end();
  }

  private write(text: string | Buffer): void {
    this.response.write(text, this.hasLeft);
    this.wrote();
  }
}
