import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ChangelogStore } from '../../blackboard/queries/changelog-store.js';
import { Clock } from '../../common/clock.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { StreamInterest } from '../../pubsub/stream-interest.js';
import { LiveEventFeed } from './live-event-feed.js';
import { ReadLimiter } from './read-limiter.js';
import type { Sink } from './sink.js';
import { StreamMemory } from './stream-memory.js';
import { stopping } from './stream-limits.js';
import { Stream, type StreamEnd } from './stream.js';
import type { StreamRequest } from './stream-request.js';
import { Tail } from './tail.js';

/** Those who resume read by themselves; with all of them at once, nobody else would get to the database. */
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

  /** Rejects where it cannot be begun, DomainError `unavailable` where the service is stopping; then nothing was written. `makeSink` is called when all is ready. */
  async begin({ filter, after, live }: StreamRequest, makeSink: () => Sink): Promise<void> {
    await this.tail.enter();
    const noLongerInterested = this.interest.add(live);
    const leave = (): void => {
      noLongerInterested();
      this.tail.leave();
    };
    try {
      const reader = await this.store.reader(filter);
      // What is there already is not what comes from now on.
      if (after === null) await this.tail.look();
      // Those that are open have been ended: one that was on its way then would keep the process from stopping.
      if (this.lifecycle.stopping) throw stopping();
      const onEnd = (end: StreamEnd, error?: unknown): void => {
        this.open.delete(stream);
        this.liveEvents.delete(stream);
        leave();
        this.reportEnd(end, error);
      };
      const { tail, limiter, clock, memory } = this;
      const stream = new Stream({ tail, limiter, clock, memory, reader, sink: makeSink(), filter, onEnd }, after ?? tail.position);
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
    if (end === 'slow') this.logger.info('a stream was closed: its reader does not take what there is');
    else if (end === 'failed') this.logger.warn({ err: error }, 'a stream was closed: what its reader has missed could not be read');
  }
}
