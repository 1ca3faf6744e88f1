import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { EXTERNAL } from '../../catalog/definitions.js';
import { GrowthLimit } from '../../catalog/growth-limit.js';
import { describeVisibilityProblem, findTtlProblem } from '../../catalog/parse-visibility.js';
import { unknownType } from '../../catalog/unknown-names.js';
import { PUBLIC } from '../../catalog/visibility.js';
import { rememberText } from '../../cel/language/json-text.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import { toTimestamp } from '../../common/timestamp.js';
import { Settings } from '../../config/settings.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Tracing } from '../../observability/tracing/tracing.js';
import { type ArtifactDraft, ArtifactWriter } from '../artifacts/artifact-writer.js';
import { releaseTime } from '../artifacts/visibility-rules.js';
import { type CorrelationChanges, CorrelationTracker } from '../correlations/correlation-tracker.js';
import { BatchWindows } from '../joins/batch-windows.js';
import { Joins } from '../joins/joins.js';
import { boundedKey, lockKeysOf } from '../joins/lock-keys.js';
import { isJoin, type Triggered } from '../matching/matcher.js';
import { Matching } from '../matching/matching.js';
import { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import { Deadlines } from '../scheduling/deadlines.js';
import { ExecutionQueue } from '../scheduling/execution-queue.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { WaitingArrivals } from '../scheduling/waiting-arrivals.js';
import type { Publication, Published } from './blackboard.js';

/** Characters of a payload's JSON text. */
const LARGE = 64 * 1_024;

/** An artifact with the results of its matching, which happens before its transaction. */
export interface MatchedArtifact {
  draft: ArtifactDraft;
  /** When it is released to its subscriptions (epoch ms); null if it triggers immediately. */
  releaseAt: number | null;
  triggered: Triggered[];
}

/** Publishes artifacts: validates and matches them first, then stores, counts and triggers in one transaction. */
@Injectable()
export class Publisher {
  constructor(
    private readonly settings: Settings,
    private readonly memory: MemoryBudget,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly tracker: CorrelationTracker,
    private readonly matching: Matching,
    private readonly writer: ArtifactWriter,
    private readonly executions: ExecutionQueue,
    private readonly joins: Joins,
    private readonly windows: BatchWindows,
    private readonly timers: TimerQueue,
    private readonly arrivals: WaitingArrivals,
    private readonly numbers: SubscriptionNumbers,
    private readonly deadlines: Deadlines,
    private readonly tracing: Tracing,
  ) {}

  /** Implements `Blackboard.publish`. */
  async publish(publication: Publication): Promise<Published> {
    const limit = new GrowthLimit(this.settings.bodyLimitBytes);
    const draft = this.draft(publication, limit);
    return this.memory.during(grownMemory(limit), () => this.publishDraft(publication, draft));
  }

  /** The names that a transaction locks before it stores these artifacts. */
  lockKeys(matched: readonly MatchedArtifact[]): string[] {
    return lockKeysOf(
      matched.flatMap(({ triggered }) => triggered),
      this.numbers,
    );
  }

  /**
   * Checks a client's artifact and fills in the defaults of its type, within `limit`. DomainError `invalid` if the type
   * is unknown, the payload does not match its schema, or the `ttl` of the visibility is too long.
   */
  draft(
    publication: Omit<Publication, 'visibility'> & Partial<Pick<Publication, 'visibility'>>,
    limit: GrowthLimit,
  ): ArtifactDraft {
    const type = this.catalog.type(publication.type);
    if (!type) throw new DomainError('invalid', unknownType(publication.type, this.catalog));
    const accepted = type.accept(publication.payload, limit);
    if ('problem' in accepted) throw new DomainError('invalid', accepted.problem);
    const { payload } = accepted;
    const visibility = publication.visibility ?? PUBLIC;
    const ttlProblem = findTtlProblem(visibility, this.settings.maxTtlMs);
    if (ttlProblem !== null) throw new DomainError('invalid', `visibility: ${describeVisibilityProblem(ttlProblem)}`);
    const payloadText = JSON.stringify(payload);
    rememberText(payload, payloadText);
    return {
      id: publication.artifactId,
      type: type.name,
      version: type.version,
      payload,
      payloadText,
      producedBy: EXTERNAL,
      visibility,
      tags: publication.tags,
      partitionKey: publication.partitionKey,
      correlationId: publication.correlationId,
      executionId: null,
      createdAt: this.clock.now(),
    };
  }

  /**
   * Finds the subscriptions that an artifact triggers. It may evaluate expressions, so it runs before the transaction.
   */
  async match(draft: ArtifactDraft): Promise<MatchedArtifact> {
    const releaseAt = releaseTime(draft.visibility, draft.createdAt);
    if (releaseAt !== null && releaseAt > this.clock.now()) return { draft, releaseAt, triggered: [] };
    const triggered = await this.matching.triggered({
      artifact: {
        id: draft.id,
        type: draft.type,
        payload: draft.payload,
        tags: draft.tags,
        produced_by: draft.producedBy,
        correlation_id: draft.correlationId,
        partition_key: draft.partitionKey,
        version: draft.version,
        created_at: toTimestamp(draft.createdAt),
      },
      visibility: draft.visibility,
      createdAt: draft.createdAt,
    });
    return { draft, releaseAt: null, triggered };
  }

  /** Stores an output of an execution, in the transaction of the execution's outcome. */
  async store(tx: Transaction, changes: CorrelationChanges, matched: MatchedArtifact): Promise<void> {
    const seq = await this.writer.insert(tx, matched.draft);
    if (seq === null) throw new Error(`artifact ${matched.draft.id} exists`);
    await this.trigger(tx, changes, seq, matched);
  }

  /** Adds a stored artifact to the executions, joins and windows of the subscriptions that it triggers. */
  async react(
    tx: Transaction,
    changes: CorrelationChanges,
    artifact: { seq: number; type: string; correlationId: string },
    triggered: Triggered[],
  ): Promise<void> {
    for (const { subscription, key } of triggered) {
      if (subscription.batch) await this.windows.arrive(tx, changes, subscription, artifact);
      else if (isJoin(subscription))
        await this.joins.arrive(tx, changes, subscription, { ...artifact, key: boundedKey(key) });
      else {
        await this.executions.add(tx, changes, {
          subscription,
          correlationId: artifact.correlationId,
          inputs: [artifact.seq],
          direct: false,
        });
      }
    }
  }

  private async publishDraft({ companion, ...publication }: Publication, draft: ArtifactDraft): Promise<Published> {
    // Checking and serializing a large payload takes long, and so does matching; other requests run between the two.
    if (draft.payloadText.length > LARGE) await yieldToEventLoop();
    const matched = await this.match(draft);
    const cause = this.tracing.current();
    return this.unitOfWork.run(async (tx) => {
      await tx.lock([...this.lockKeys([matched]), ...(companion?.names ?? [])]);
      const changes = this.tracker.begin(tx, this.clock.now(), cause);
      const seq = await this.writer.insert(tx, matched.draft);
      if (seq === null) return findPublished(tx, publication.artifactId);
      const correlation = await changes.open(publication.correlationId);
      await companion?.store(tx, correlation);
      const { deadlineMs = null } = publication;
      if (deadlineMs !== null) await this.deadlines.set(tx, correlation, changes.now + deadlineMs);
      await this.trigger(tx, changes, seq, matched);
      this.arrivals.refuseExcess(tx);
      await changes.save();
      return {
        artifactId: publication.artifactId,
        correlationId: publication.correlationId,
        seq,
        generation: correlation.generation,
      };
    });
  }

  private async trigger(
    tx: Transaction,
    changes: CorrelationChanges,
    seq: number,
    matched: MatchedArtifact,
  ): Promise<void> {
    const { draft, releaseAt, triggered } = matched;
    const correlation = await changes.get(draft.correlationId);
    this.writer.count(changes, correlation, seq, draft);
    if (releaseAt !== null) {
      correlation.pending += 1;
      await this.timers.set(tx, 'release', releaseAt, String(seq));
    }
    await this.react(tx, changes, { seq, type: draft.type, correlationId: draft.correlationId }, triggered);
  }
}

/** The memory of what defaults have added to payloads (bytes): their texts, and copies of the parts that changed. */
export const grownMemory = ({ usedBytes }: GrowthLimit): number => 2 * usedBytes;

/** Returns the artifact that an earlier request with the same idempotency key has published. */
async function findPublished(tx: Transaction, artifactId: string): Promise<Published> {
  const row = await tx.db
    .selectFrom('artifacts')
    .innerJoin('correlations', 'correlations.id', 'artifacts.correlation_id')
    .select(['artifacts.seq', 'artifacts.correlation_id', 'correlations.generation'])
    .where('artifacts.id', '=', artifactId)
    .executeTakeFirstOrThrow();
  return { artifactId, correlationId: row.correlation_id, seq: row.seq, generation: row.generation };
}
