import type { Socket } from 'node:net';

import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';

import { DomainError } from '../../common/domain-error.js';
import { answersAsStream } from '../../http/middleware/request-observer.js';
import { type ChangelogStreamQuery, toChangelogFilter } from './dto/changelog-query.js';
import type { EntryBatch, GapEntry } from './entry.js';
import { Resuming } from './resuming.js';
import { Sink } from './stream.js';
import { StreamLimits } from './stream-limits.js';
import { Streams } from './streams.js';

const LAST_EVENT_ID = 'Last-Event-ID';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Proxies must neither cache nor compress the stream, which would delay entries. The second header stops nginx from
  // buffering.
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Serves streams as server-sent events. */
@Injectable()
export class EventStreamService {
  constructor(
    private readonly limits: StreamLimits,
    private readonly resuming: Resuming,
    private readonly streams: Streams,
  ) {}

  /** Resolves when the stream has begun. Throws DomainError `invalid`, `unavailable`. */
  async answer(query: ChangelogStreamQuery, request: Request, response: Response): Promise<void> {
    // A pipelined stream would stay in memory, because nothing is sent before the answers to earlier requests have
    // ended.
    if (response.socket === null)
      throw new DomainError(
        'invalid',
        'A stream cannot wait behind another request on its connection; request it after that one has ended, or on another connection',
      );
    response.once('close', this.limits.admit(request));
    const after = await this.afterOf(query, request.get(LAST_EVENT_ID));
    if (request.method === 'HEAD') return void response.writeHead(200, HEADERS).end();
    await this.streams.begin({ filter: toChangelogFilter(query), after, live: query.live }, () => {
      // The end of the connection ends the answer. Chunked encoding would cost more for each entry and reader than the
      // entry itself.
      response.removeHeader('Transfer-Encoding');
      response.writeHead(200, { ...HEADERS, Connection: 'close' });
      answersAsStream(response);
      return new SseSink(request.socket, response);
    });
  }

  // The header takes precedence, because browsers repeat the first URL and add the header when they reconnect.
  private async afterOf({ after }: ChangelogStreamQuery, lastEventId: string | undefined): Promise<number | null> {
    if (lastEventId !== undefined) return this.resuming.check(LAST_EVENT_ID, lastEventId);
    return after === undefined ? null : this.resuming.check('after', after);
  }
}

const RECONNECT_AFTER_MS = 1_000;

/**
 * Writes server-sent events (WHATWG HTML, section 9.2). An `id` without data sets the position to resume from, without
 * an event.
 */
class SseSink extends Sink {
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
