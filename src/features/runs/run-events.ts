import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { RunState } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { LiveEvents } from '../../pubsub/live-events.js';

/** Emits live events about runs while a stream wants them. */
@Injectable()
export class RunEvents {
  constructor(
    private readonly clock: Clock,
    private readonly liveEvents: LiveEvents,
  ) {}

  /** Emits `run_progress` for a run that was created or has ended. */
  changed(tx: Transaction, { id, agent, status }: { id: string; agent: string; status: RunState }): void {
    if (!this.liveEvents.areWanted) return;
    this.liveEvents.emitAfterCommit(tx, {
      event_type: 'run_progress',
      run_id: id,
      agent,
      // A running run is `starting` on the wire until its first execution is claimed.
      status: status === 'running' ? 'starting' : status,
      correlation_id: id,
      timestamp: toTimestamp(this.clock.now()),
    });
  }
}
