import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { SCHEDULE } from '../../catalog/definitions.js';
import { type Schedule, tagOf } from '../../catalog/schedules/schedule.js';
import { tickPayload } from '../../catalog/schedules/tick-payload.js';
import { PUBLIC } from '../../catalog/visibility.js';
import { ExpressionEvaluator } from '../../cel/evaluator.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import type { TickState } from '../../database/schema.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { hasOtherConfiguration } from '../processes/process-rows.js';
import { Drafts } from '../publishing/drafts.js';
import { type MatchedArtifact, MatchedArtifacts } from '../publishing/matched-artifacts.js';
import { tickId } from './tick-id.js';
import { claimTick, type NewTick } from './tick-rows.js';

/** A tick whose artifact is ready to be stored, or that has failed. */
export interface PreparedTick {
  tick: NewTick;
  matched: MatchedArtifact | null;
  lockKeys: string[];
}

/** A tick of a version of a schedule, and why it is published. */
export interface TickToPublish {
  schedule: Schedule;
  version: number;
  scheduledFor: number;
  cause: NewTick['cause'];
}

/** Publishes ticks. The row of a tick and its artifact are stored in one transaction. */
@Injectable()
export class TickPublisher {
  constructor(
    private readonly catalog: Catalog,
    private readonly evaluator: ExpressionEvaluator,
    private readonly drafts: Drafts,
    private readonly artifacts: MatchedArtifacts,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Makes and matches the artifact, before the transaction. The tick has failed if its payload cannot be made, or if its
   * type refuses it or is unknown. If the tick is due and another process may know its type, it throws instead: that
   * process then publishes the tick.
   */
  async prepare({ schedule, version, scheduledFor, cause }: TickToPublish): Promise<PreparedTick> {
    const { name, publishes } = schedule;
    const id = tickId(name, scheduledFor);
    const tick: NewTick = {
      schedule: name,
      scheduled_for: scheduledFor,
      version,
      state: 'published',
      cause,
      reason: null,
      artifact_id: id,
      correlation_id: newId(),
      decided_at: this.clock.now(),
    };
    if (!this.catalog.type(publishes.type)) {
      const problem = `the configuration does not have the type ${publishes.type}`;
      if (cause === 'time' && (await this.mayBeKnownElsewhere())) throw new Error(`schedule ${name}: ${problem}`);
      return failed(tick, problem);
    }
    const made = await tickPayload(schedule, scheduledFor, (source, variables) =>
      this.evaluator.evaluate(source, variables),
    );
    if ('problem' in made) return failed(tick, made.problem);
    const given = {
      artifactId: id,
      correlationId: tick.correlation_id!,
      type: publishes.type,
      payload: made.payload,
      tags: [...new Set([tagOf(name), ...publishes.tags])],
      partitionKey: publishes.partitionKey,
      visibility: PUBLIC,
      producedBy: SCHEDULE,
    };
    try {
      const matched = await this.drafts.with(given, (draft) => this.artifacts.match(draft));
      return { tick, matched, lockKeys: this.artifacts.lockKeys([matched]) };
    } catch (error) {
      if (error instanceof DomainError && error.code === 'invalid') return failed(tick, error.message);
      throw error;
    }
  }

  /**
   * Stores the tick with its artifact and everything that it triggers. Returns false, and stores nothing, if it has been
   * published before. `over`: the states of an earlier decision that it replaces.
   */
  async store(
    tx: Transaction,
    changes: CorrelationChanges,
    prepared: PreparedTick,
    over: readonly Exclude<TickState, 'published'>[],
  ): Promise<boolean> {
    const isClaimed = await claimTick(tx, prepared.tick, over);
    if (isClaimed) await this.publish(tx, changes, prepared);
    return isClaimed;
  }

  /** Stores the artifact of a claimed tick, and everything that it triggers. A failed tick has none. */
  async publish(tx: Transaction, changes: CorrelationChanges, { tick, matched }: PreparedTick): Promise<void> {
    if (!matched) return;
    const stored = await this.artifacts.insert(tx, matched);
    // A client has published an artifact under this id.
    if (!stored) throw new Error(`artifact ${tick.artifact_id} of schedule ${tick.schedule} exists already`);
    const correlation = await changes.create(tick.correlation_id!, { background: false });
    await this.artifacts.trigger(tx, changes, correlation, [{ stored, matched }]);
  }

  /** Whether a process with another configuration lives, as while a new one is rolled out. */
  private mayBeKnownElsewhere(): Promise<boolean> {
    return hasOtherConfiguration(this.unitOfWork.reader, this.catalog.digest, this.clock.now());
  }
}

const failed = (tick: NewTick, reason: string): PreparedTick => ({
  tick: { ...tick, state: 'failed', reason, artifact_id: null, correlation_id: null },
  matched: null,
  lockKeys: [],
});
