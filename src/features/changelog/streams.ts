import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';

import type { ChangelogFilter } from '../../blackboard/queries/changelog-rows.js';
import { ChangelogStore } from '../../blackboard/queries/changelog-store.js';
import { Clock } from '../../common/clock.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { StreamInterest } from '../../pubsub/stream-interest.js';
import { LiveEventFeed } from './live-event-feed.js';
import { type Sink, Stream, type StreamEnd } from './stream.js';
import { ReadLimiter, stopping } from './stream-limits.js';
import { StreamMemory } from './stream-memory.js';
import { Tail } from './tail.js';

/** The options of a stream. */
export interface StreamRequest {
  filter: ChangelogFilter;
  /** The position after which the stream begins; null begins now. */
  after: number | null;
  live: boolean;
}

/** Maximum number of resuming streams that read at the same time. More would keep other requests from the database. */
const READERS_AT_ONCE = 4;

/** The open streams of this process. */
@Injectable()
export class Streams implements OnModuleDestroy {
  private readonly open = new Set<Stream>();
  private readonly limiter = new ReadLimiter(READERS_AT_ONCE);

  constructor(
    private readonly store: ChangelogStore,
    private readonly tail: Tail,
    private readonly liveEvents: LiveEventFeed,
    private readonly interest: StreamInterest,
    private readonly clock: Clock,
    private readonly memory: StreamMemory,
    private readonly lifecycle: Lifecycle,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    lifecycle.onStop(() => this.endAll());
  }

  /**
   * Begins a stream. Calls `makeSink` when everything is ready. Rejects if it cannot begin, with DomainError
   * `unavailable` if the service is stopping; nothing was written then.
   */
  async begin({ filter, after, live }: StreamRequest, makeSink: () => Sink): Promise<void> {
    await this.tail.enter();
    const noLongerInterested = this.interest.add(live);
    const leave = (): void => {
      noLongerInterested();
      this.tail.leave();
    };
    try {
      const reader = await this.store.reader(filter);
      // Moves the tail to the end, because the stream begins with entries that come from now on.
      if (after === null) await this.tail.look();
      // The open streams have ended already. A new one would keep the process from stopping.
      if (this.lifecycle.stopping) throw stopping();
      const onEnd = (end: StreamEnd, error?: unknown): void => {
        this.open.delete(stream);
        this.liveEvents.delete(stream);
        leave();
        this.reportEnd(end, error);
      };
      const { tail, limiter, clock, memory } = this;
      const stream = new Stream(
        { tail, limiter, clock, memory, reader, sink: makeSink(), filter, onEnd },
        after ?? tail.position,
      );
      this.open.add(stream);
      if (live) this.liveEvents.add(stream);
      stream.begin();
    } catch (error) {
      leave();
      throw error;
    }
  }

  onModuleDestroy(): void {
    this.endAll();
  }

  private endAll(): void {
    for (const stream of [...this.open]) stream.end('stopping');
  }

  private reportEnd(end: StreamEnd, error: unknown): void {
    if (end === 'slow') this.logger.info('a stream was closed: its reader is too slow');
    else if (end === 'failed')
      this.logger.warn({ err: error }, 'a stream was closed: entries that its reader missed could not be read');
  }
}
