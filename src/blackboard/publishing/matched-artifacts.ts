import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { type ArtifactDraft, ArtifactWriter } from '../artifacts/artifact-writer.js';
import { agentArtifactFromDraft, inputOf } from '../artifacts/execution-input.js';
import { releaseTime } from '../artifacts/visibility-rules.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { Matching, NO_REACTIONS, type Reactions } from '../matching/matching.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { Triggering } from './triggering.js';

/** An artifact with the results of its matching. */
export interface MatchedArtifact extends Reactions {
  draft: ArtifactDraft;
  /** When it is released to its subscriptions (epoch ms); null if it triggers immediately. */
  releaseAt: number | null;
}

/** An artifact that the transaction has stored. `blockedKeys`: the answer of `findBlockedKeys` for what it triggers. */
export interface StoredArtifact {
  seq: number;
  blockedKeys: ReadonlySet<string>;
}

/** Characters of a payload's JSON text. */
const SHORT = 4 * 1_024;

/** Whether the artifact is so small that transactions that store such artifacts may run together. */
export const isShort = ({ payloadText }: ArtifactDraft): boolean => payloadText.length <= SHORT;

/** Artifacts of a transaction that runs together with others. The others wait for each of them. */
const MOST_TOGETHER = 4;

/** Whether transactions that store these artifacts may run together. */
export const areFewAndShort = (drafts: readonly ArtifactDraft[]): boolean =>
  drafts.length <= MOST_TOGETHER && drafts.every(isShort);

/**
 * Matches new artifacts against the subscriptions, and stores them with everything that they trigger. Matching comes
 * before the transaction, because it may evaluate expressions.
 */
@Injectable()
export class MatchedArtifacts {
  constructor(
    private readonly clock: Clock,
    private readonly matching: Matching,
    private readonly writer: ArtifactWriter,
    private readonly timers: TimerQueue,
    private readonly triggering: Triggering,
  ) {}

  async match(draft: ArtifactDraft): Promise<MatchedArtifact> {
    const releaseAt = releaseTime(draft.visibility, draft.createdAt);
    if (releaseAt !== null && releaseAt > this.clock.now()) return { draft, releaseAt, ...NO_REACTIONS };
    const reactions = await this.matching.reactions({
      artifact: agentArtifactFromDraft(draft),
      visibility: draft.visibility,
      createdAt: draft.createdAt,
    });
    return { draft, releaseAt: null, ...reactions };
  }

  /** The names that a transaction locks before it stores these artifacts. */
  lockKeys(matched: readonly MatchedArtifact[]): string[] {
    return matched.flatMap(({ draft, triggered }) =>
      this.triggering.lockKeys(triggered, { id: draft.correlationId, isReplay: draft.replay }),
    );
  }

  /** Stores only the artifact. Returns null if an artifact with its id is already stored; then nothing is written. */
  async insert(tx: Transaction, { draft, triggered }: MatchedArtifact): Promise<StoredArtifact | null> {
    const [seq, blockedKeys] = await Promise.all([
      this.writer.insert(tx, draft),
      this.triggering.findBlockedKeys(tx, triggered),
    ]);
    return seq === null ? null : { seq, blockedKeys };
  }

  /** Counts the artifact in its correlation, and stores everything that it triggers or cancels. */
  async trigger(
    tx: Transaction,
    changes: CorrelationChanges,
    correlation: TrackedCorrelation,
    { seq, blockedKeys }: StoredArtifact,
    { draft, releaseAt, triggered, cancels }: MatchedArtifact,
  ): Promise<void> {
    changes.addArtifact(correlation, seq, draft);
    if (releaseAt !== null) {
      correlation.pending += 1;
      await this.timers.setRelease(tx, releaseAt, seq, draft.correlationId);
    }
    const artifact = { seq, id: draft.id, type: draft.type, input: inputOf(draft, seq, 0), blockedKeys };
    await this.triggering.start(tx, changes, artifact, correlation, { triggered, cancels });
  }
}
