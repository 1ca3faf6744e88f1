import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError } from '../../common/domain-error.js';
import { answersAsStream } from '../../http/middleware/request-observer.js';
import { toChangelogFilter } from './dto/changelog-filter-query.js';
import type { ChangelogStreamQuery } from './dto/changelog-stream-query.js';
import { Resuming } from './resuming.js';
import { SseSink } from './sse-sink.js';
import { StreamLimits } from './stream-limits.js';
import { Streams } from './streams.js';

const LAST_EVENT_ID = 'Last-Event-ID';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // Proxies must neither keep nor compress it, which would hold entries back; nginx buffers unless it is told not to.
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Streams as server-sent events. */
@Injectable()
export class EventStreamService {
  constructor(
    private readonly limits: StreamLimits,
    private readonly resuming: Resuming,
    private readonly streams: Streams,
  ) {}

  /** DomainError `invalid`, `unavailable`. Resolves when the stream has begun. */
  async answer(query: ChangelogStreamQuery, request: Request, response: Response): Promise<void> {
    // Nothing of it leaves before the answers to earlier requests have ended, so that all of it would be kept.
    if (response.socket === null) throw new DomainError('invalid', 'A stream cannot wait for the answer to another request on its connection; ask for it once that has ended, or on a connection of its own');
    response.once('close', this.limits.admit(request));
    const after = await this.afterOf(query, request.get(LAST_EVENT_ID));
    if (request.method === 'HEAD') return void response.writeHead(200, HEADERS).end();
    await this.streams.begin({ filter: toChangelogFilter(query), after, live: query.live }, () => {
      // The end of the connection is the end of the answer: a frame around every entry, for every reader, would cost more than the entry.
      response.removeHeader('Transfer-Encoding');
      response.writeHead(200, { ...HEADERS, Connection: 'close' });
      answersAsStream(response);
      return new SseSink(request.socket, response);
    });
  }

  // The header first: browsers add it to the URL that they were given at the beginning.
  private async afterOf({ after }: ChangelogStreamQuery, lastEventId: string | undefined): Promise<number | null> {
    if (lastEventId !== undefined) return this.resuming.check(LAST_EVENT_ID, lastEventId);
    return after === undefined ? null : this.resuming.check('after', after);
  }
}
