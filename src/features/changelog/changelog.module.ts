import { Module } from '@nestjs/common';

import { BlackboardModule } from '../../blackboard/blackboard.module.js';
import { ChangelogController, SocketPathsController } from './changelog.controller.js';
import { ChangelogEventsService } from './changelog-events.service.js';
import { ChangelogSockets } from './changelog-sockets.js';
import { EventStreamService } from './event-stream.service.js';
import { FirstMessages } from './first-message.js';
import { LiveEventFeed } from './live-event-feed.js';
import { Resuming } from './resuming.js';
import { StreamLimits } from './stream-limits.js';
import { StreamMemory } from './stream-memory.js';
import { Streams } from './streams.js';
import { Tail } from './tail.js';

@Module({
  imports: [BlackboardModule],
  controllers: [ChangelogController, SocketPathsController],
  providers: [
    ChangelogEventsService,
    ChangelogSockets,
    EventStreamService,
    FirstMessages,
    LiveEventFeed,
    Resuming,
    StreamLimits,
    StreamMemory,
    Streams,
    Tail,
  ],
})
export class ChangelogModule {}
