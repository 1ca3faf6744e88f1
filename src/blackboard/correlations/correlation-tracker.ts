import { Injectable } from '@nestjs/common';

import { OUTSIDE, WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { CorrelationState } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { isSameTrace, NO_SPAN, type Span, Tracing } from '../../observability/tracing/tracing.js';
import { LiveEvents } from '../../pubsub/live-events.js';
import { Signals } from '../../pubsub/signals.js';
import { ArtifactsPublished, type PublishedArtifact } from './artifacts-published.js';
import {
  fieldsOf,
  HAS_RUN,
  insertCorrelation,
  insertNewCorrelations,
  insertOrTouchCorrelation,
  lockCorrelation,
  type NewCorrelation,
  NO_REPLAY,
  REOPENED,
  type ReplayColumns,
  updateCorrelation,
  updateCorrelationAndState,
} from './correlation-rows.js';
import { CorrelationSettled } from './correlation-settled.js';
import { InlineEnds } from './inline-ends.js';
import {
  type CorrelationFields,
  type CorrelationRow,
  isReplay,
  type TrackedCorrelation,
} from './tracked-correlation.js';

/** Creates the bookkeeping for a transaction that changes correlations. */
@Injectable()
export class CorrelationTracker {
  constructor(
    private readonly clock: Clock,
    private readonly signals: Signals,
    private readonly liveEvents: LiveEvents,
    private readonly settled: CorrelationSettled,
    private readonly published: ArtifactsPublished,
    private readonly tracing: Tracing,
  ) {}

  /** `cause`: the span of the request or attempt that the transaction serves; leave it out for timers. */
  begin(tx: Transaction, cause: Span = NO_SPAN): CorrelationChanges {
    return new CorrelationChanges(
      tx,
      this.clock.now(),
      cause,
      this.signals,
      this.liveEvents,
      this.settled,
      this.published,
      this.tracing,
    );
  }
}

interface Creation {
  background: boolean;
  beginning?: keyof typeof HAS_RUN;
  replay?: ReplayColumns;
  /** Whether the service made the id for this request and has given it to no client. Otherwise a correlation may have it. */
  isNew?: boolean;
}

/**
 * The correlations that one transaction changes. `pending` counts what keeps a correlation active: executions that have
 * not ended, timers, joins whose `where` has not been evaluated, and waiting groups with a time limit. `save` settles
 * every correlation whose count is zero, so a correlation settles in the transaction that ends its last piece of work.
 */
export class CorrelationChanges {
  private readonly touched = new Map<string, TrackedCorrelation>();
  private readonly stored: PublishedArtifact[] = [];
  /** The state in the database of each touched correlation, or the first one of a new correlation. */
  private readonly storedStates = new Map<string, CorrelationState>();
  /**
   * Correlations with new ids. No other transaction knows them, so they need no lock, and `save` inserts them with their final
   * counts. Until then, no statement finds them.
   */
  private readonly unstored = new Set<string>();
  /** Executions that end in this transaction although nothing claimed them. */
  readonly inlineEnds: InlineEnds;
  private readonly worksBeforeSave: (() => Promise<void>)[] = [];

  constructor(
    private readonly tx: Transaction,
    readonly now: number,
    private readonly cause: Span,
    private readonly signals: Signals,
    private readonly liveEvents: LiveEvents,
    private readonly settled: CorrelationSettled,
    private readonly published: ArtifactsPublished,
    private readonly tracing: Tracing,
  ) {
    this.inlineEnds = new InlineEnds(tx);
  }

  /** Creates a correlation. DomainError `conflict` if the id is in use, which a new one is not. */
  async create(
    id: string,
    { background: isBackground, beginning = 'published', replay = NO_REPLAY, isNew = false }: Creation,
  ): Promise<TrackedCorrelation> {
    const background = isBackground ? 1 : 0;
    const traceparent = this.cause.traceparent ?? this.beginTrace(id);
    const created = { id, background, ...replay, traceparent, now: this.now };
    if (isNew) return this.addNew({ ...created, has_run: HAS_RUN[beginning] });
    const [row] = await insertCorrelation(this.tx.db, { ...created, hasRun: HAS_RUN[beginning] });
    if (!row)
      throw new DomainError('conflict', `Correlation ${id} exists already; send another X-Correlation-ID, or none`);
    return this.track(row);
  }

  /**
   * Finds or creates the correlation of a client's publish, and reopens it if it has settled. `conflict` if it is
   * closed or a replay. `isNew`: see `Creation`.
   */
  async open(id: string, { isNew }: { isNew: boolean }): Promise<TrackedCorrelation> {
    const opened = { id, traceparent: this.cause.traceparent, now: this.now };
    if (isNew) return this.addNew({ ...opened, has_run: HAS_RUN.published });
    const [row] = (await insertOrTouchCorrelation(this.tx.db, opened)) as [CorrelationRow];
    if (row.origin !== null) {
      throw new DomainError(
        'conflict',
        `Correlation ${id} is a replay of ${row.origin} and takes no artifacts; publish into another one`,
      );
    }
    if (row.closed === 1) {
      throw new DomainError(
        'conflict',
        `Correlation ${id} has ended and takes no more artifacts; publish into another one`,
      );
    }
    const stored = row.state;
    this.reopen(row);
    return this.track(row, stored);
  }

  /**
   * Call this when work is added to a correlation that is not closed. If it has settled, its next generation begins.
   */
  reopen(correlation: CorrelationFields): void {
    if (correlation.state !== 'active')
      Object.assign(correlation, { ...REOPENED, generation: correlation.generation + 1 });
    if (correlation.traceparent !== null) this.cause.join(correlation.traceparent);
  }

  /** Throws if the correlation does not exist, which is a bug: the caller works on something that belongs to it. */
  async get(id: string): Promise<TrackedCorrelation> {
    const row = await this.find(id);
    if (!row) throw new Error(`correlation ${id} does not exist`);
    return row;
  }

  /** Locks them in the order of their ids, so that two transactions never wait for each other. */
  async getAll(ids: readonly string[]): Promise<TrackedCorrelation[]> {
    for (const id of [...ids].sort()) await this.get(id);
    return Promise.all(ids.map((id) => this.get(id)));
  }

  /** Locks the correlation until the transaction ends. */
  async find(id: string): Promise<TrackedCorrelation | undefined> {
    const known = this.touched.get(id);
    if (known) return known;
    const [row] = await lockCorrelation(this.tx.db, { id });
    if (!row) return undefined;
    return this.track(row);
  }

  /**
   * Creates a closed correlation for a run that failed before it published anything, so that its id cannot be used
   * again.
   */
  async createFailed(id: string): Promise<void> {
    Object.assign(await this.create(id, { background: true, beginning: 'run', isNew: true }), {
      state: 'failed',
      closed: 1,
      settled_at: this.now,
    });
  }

  /**
   * Ends and closes an active correlation. The caller has removed its pending work before. `reason`: one sentence, or
   * null if a client asked for the end.
   */
  async end(correlation: TrackedCorrelation, as: 'cancelled' | 'ended', reason: string | null): Promise<void> {
    Object.assign(correlation, { pending: 0, closed: 1 });
    await this.settle(correlation, as === 'cancelled' ? as : endState(correlation), reason);
  }

  /** Counts the artifact that is stored at `seq`, and registers it for the hooks. */
  addArtifact(
    correlation: TrackedCorrelation,
    seq: number,
    { id, type, producedBy }: { id: string; type: string; producedBy: string },
  ): void {
    correlation.artifact_count += 1;
    if (type === WORKFLOW_ERROR) correlation.error_count += 1;
    else if (!OUTSIDE.includes(producedBy)) correlation.output_count += 1;
    this.stored.push({ seq, id, correlation, sequence: correlation.artifact_count });
  }

  /** Runs `work` when the changes are saved, before the publication hooks. */
  beforeSave(work: () => Promise<void>): void {
    this.worksBeforeSave.push(work);
  }

  /**
   * Runs the publication hooks, settles every correlation without pending work, and writes all counts. This is the last
   * step of each transaction that changed a correlation.
   */
  async save(): Promise<void> {
    for (const work of this.worksBeforeSave) await work();
    if (this.stored.length > 0) await this.published.run(this.tx, this.stored, this.now);
    await this.inlineEnds.record();
    for (const correlation of this.touched.values()) {
      if (correlation.pending < 0)
        throw new Error(`correlation ${correlation.id} has a pending count of ${correlation.pending}`);
      correlation.last_activity_at = this.now;
      if (correlation.state === 'active' && correlation.pending === 0)
        await this.settle(correlation, endState(correlation));
      await this.store(correlation);
    }
    this.inlineEnds.reportAfterCommit();
  }

  private async store(correlation: TrackedCorrelation): Promise<void> {
    const { db } = this.tx;
    if (this.unstored.delete(correlation.id)) return insertNewCorrelations(db, [correlation]);
    const hasChangedState = this.storedStates.get(correlation.id) !== correlation.state;
    await (hasChangedState ? updateCorrelationAndState : updateCorrelation)(db, correlation);
  }

  private async settle(correlation: TrackedCorrelation, state: EndState, reason: string | null = null): Promise<void> {
    correlation.state = state;
    correlation.settled_at = this.now;
    await this.settled.run(this.tx, correlation, this.now, reason);
    const settled = { correlationId: correlation.id, generation: correlation.generation };
    const cause = this.inlineEnds.lastSpan(correlation.id) ?? this.cause;
    // Nothing waits for it in other processes, because no transaction could find it before this one.
    const isUnknown = this.unstored.has(correlation.id);
    this.tx.afterCommit(() => {
      cause.event('correlation settled', {
        'starling.correlation.id': settled.correlationId,
        'starling.correlation.state': state,
      });
      this.signals.correlationSettled.publish(settled);
      if (!isUnknown) this.signals.correlationSettled.publishElsewhere(settled);
    });
    if (this.liveEvents.areWanted) {
      const { id: correlation_id } = correlation;
      const replay = isReplay(correlation);
      this.liveEvents.emitAfterCommit(this.tx, {
        event_type: 'correlation_settled',
        correlation_id,
        ...(replay && { replay }),
        state,
        timestamp: toTimestamp(this.now),
      });
    }
  }

  /** Runs `work`, which adds work to the correlation, with this span as its cause. */
  async causedBy<T>(correlation: TrackedCorrelation, { traceparent }: Span, work: () => Promise<T>): Promise<T> {
    const { workTraceparent } = correlation;
    if (traceparent === null) return work();
    correlation.workTraceparent = traceparent;
    try {
      return await work();
    } finally {
      correlation.workTraceparent = workTraceparent;
    }
  }

  private addNew(correlation: NewCorrelation): TrackedCorrelation {
    this.unstored.add(correlation.id);
    return this.track(fieldsOf(correlation));
  }

  private track(row: CorrelationFields, storedState = row.state): TrackedCorrelation {
    const cause = this.cause.traceparent;
    const workTraceparent = row.traceparent === null || isSameTrace(row.traceparent, cause) ? cause : row.traceparent;
    const tracked = Object.assign(row, { workTraceparent });
    this.touched.set(row.id, tracked);
    this.storedStates.set(row.id, storedState);
    return tracked;
  }

  /**
   * Starts a trace for a correlation without a request, such as a batch row's, so that its executions share one trace.
   */
  private beginTrace(id: string): string | null {
    const span = this.tracing.start('correlation', {
      kind: 'internal',
      parent: null,
      attributes: { 'starling.correlation.id': id },
    });
    this.tx.afterCommit(() => span.end());
    return span.traceparent;
  }
}

type EndState = Exclude<TrackedCorrelation['state'], 'active'>;

/** `failed`: the correlation has an error, and its agents published nothing besides errors (docs/api.md, "Poll"). */
export const endState = (counts: Pick<TrackedCorrelation, 'error_count' | 'output_count'>): 'completed' | 'failed' =>
  counts.error_count > 0 && counts.output_count === 0 ? 'failed' : 'completed';
