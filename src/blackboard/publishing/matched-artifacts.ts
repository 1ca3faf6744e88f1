import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { type ArtifactDraft, ArtifactWriter } from '../artifacts/artifact-writer.js';
import { agentArtifactFromDraft, inputOf } from '../artifacts/execution-input.js';
import { releaseTime } from '../artifacts/visibility-rules.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { Matching, NO_REACTIONS, type Reactions } from '../matching/matching.js';
import type { InlineContext } from '../scheduling/inline-run.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { type InlineRoom, InlineRuns, NO_ROOM, NO_RUNS, type RunsBySubscription } from './inline-runs.js';
import { Triggering } from './triggering.js';

/** An artifact with the results of its matching. */
export interface MatchedArtifact extends Reactions {
  draft: ArtifactDraft;
  /** When it is released to its subscriptions (epoch ms); null if it triggers immediately. */
  releaseAt: number | null;
  /** The executions that it triggers whose agents have answered already. */
  inline?: RunsBySubscription;
}

/** An artifact to which no agent reacts. */
export const untriggering = (draft: ArtifactDraft): MatchedArtifact => ({ draft, releaseAt: null, ...NO_REACTIONS });

/** An artifact that the transaction has stored. `blockedKeys`: the answer of `findBlockedKeys` for what it triggers. */
export interface StoredArtifact {
  seq: number;
  blockedKeys: ReadonlySet<string>;
  /** Belongs to the inline runs that it triggers. Null if there are none. */
  inlineContext: InlineContext | null;
}

/** A matched artifact, and null or how it is stored. */
export interface Output {
  stored: StoredArtifact | null;
  matched: MatchedArtifact;
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
    private readonly inlineRuns: InlineRuns,
  ) {}

  /** `room`: for agents that answer before the transaction. Without it, none do. */
  async match(draft: ArtifactDraft, room: InlineRoom = NO_ROOM): Promise<MatchedArtifact> {
    const releaseAt = releaseTime(draft.visibility, draft.createdAt);
    if (releaseAt !== null && releaseAt > this.clock.now()) return { draft, releaseAt, ...NO_REACTIONS };
    const artifact = agentArtifactFromDraft(draft);
    const reactions = await this.matching.reactions({
      artifact,
      visibility: draft.visibility,
      createdAt: draft.createdAt,
    });
    const { runner } = this.inlineRuns;
    const mayRun = runner && !room.isFull && reactions.triggered.length > 0;
    const inline = mayRun ? await runner.triggeredBy(draft, artifact, reactions.triggered, room) : NO_RUNS;
    return { draft, releaseAt: null, ...reactions, inline };
  }

  /** The names that a transaction locks before it stores these artifacts. */
  lockKeys(matched: readonly MatchedArtifact[]): string[] {
    return matched.flatMap(({ draft, triggered }) =>
      this.triggering.lockKeys(triggered, { id: draft.correlationId, isReplay: draft.replay }),
    );
  }

  /** Stores only the artifact. Returns null if an artifact with its id is already stored; then nothing is written. */
  async insert(tx: Transaction, matched: MatchedArtifact): Promise<StoredArtifact | null> {
    const [{ stored }] = (await this.insertOutputs(tx, [matched])) as [Output];
    return stored;
  }

  /**
   * Stores only the artifacts that an execution has published, in their order. One that is stored already has null: then the
   * outcome was committed before, and the execution has no lease.
   */
  async insertOutputs(tx: Transaction, outputs: readonly MatchedArtifact[]): Promise<Output[]> {
    const inserted = outputs.map(({ draft, triggered }) =>
      Promise.all([this.writer.insert(tx, draft), this.triggering.findBlockedKeys(tx, triggered)]),
    );
    const runs = outputs.flatMap(({ inline = NO_RUNS }) => [...inline.values()]);
    const [stored, inlineContext] = await Promise.all([Promise.all(inserted), this.inlineRuns.context(tx, runs)]);
    return outputs.map((matched, index) => {
      const [seq, blockedKeys] = stored[index]!;
      return { stored: seq === null ? null : { seq, blockedKeys, inlineContext }, matched };
    });
  }

  /** Stores only the artifacts that an inline run has published. */
  async insertInline(
    tx: Transaction,
    outputs: readonly MatchedArtifact[],
    inlineContext: InlineContext,
  ): Promise<Output[]> {
    const stored: Output[] = [];
    for (const matched of outputs) {
      const seq = inlineContext.positions.shift()!;
      await this.writer.insertAt(tx, matched.draft, seq);
      const blockedKeys = await this.triggering.findBlockedKeys(tx, matched.triggered);
      stored.push({ stored: { seq, blockedKeys, inlineContext }, matched });
    }
    return stored;
  }

  /** Counts the artifacts in their correlation, and stores everything that they trigger or cancel. */
  async trigger(
    tx: Transaction,
    changes: CorrelationChanges,
    correlation: TrackedCorrelation,
    artifacts: readonly Output[],
  ): Promise<void> {
    const stored = artifacts.map(({ stored, matched }) => {
      if (!stored) throw new Error(`artifact ${matched.draft.id} exists`);
      return { stored, matched };
    });
    // All are counted first: what one of them triggers may store more artifacts.
    for (const each of stored) changes.addArtifact(correlation, each.stored.seq, each.matched.draft);
    for (const each of stored) await this.triggerOne(tx, changes, correlation, each.stored, each.matched);
  }

  private async triggerOne(
    tx: Transaction,
    changes: CorrelationChanges,
    correlation: TrackedCorrelation,
    { seq, blockedKeys, inlineContext }: StoredArtifact,
    { draft, releaseAt, triggered, cancels, inline }: MatchedArtifact,
  ): Promise<void> {
    if (releaseAt !== null) {
      correlation.pending += 1;
      await this.timers.setRelease(tx, releaseAt, seq, draft.correlationId);
    }
    const input = inputOf(draft, seq, 0);
    const artifact = { seq, id: draft.id, type: draft.type, input, blockedKeys, inline, inlineContext };
    await this.triggering.start(tx, changes, artifact, correlation, { triggered, cancels });
  }
}
