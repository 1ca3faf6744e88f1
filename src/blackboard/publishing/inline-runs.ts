import { Injectable } from '@nestjs/common';

import type { Subscription } from '../../catalog/definitions.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { AgentArtifact } from '../../engines/engine.js';
import { type ArtifactDraft, ArtifactWriter } from '../artifacts/artifact-writer.js';
import type { Triggered } from '../matching/matcher.js';
import { AgentPauses } from '../scheduling/agent-pauses.js';
import type { InlineContext, InlineRun } from '../scheduling/inline-run.js';

/** Inline runs of one transaction. The others of its group wait for all of them. */
const MOST_RUNS = 16;

/** How many inline runs may still be added to a transaction. */
export class InlineRoom {
  constructor(private left = MOST_RUNS) {}

  get isFull(): boolean {
    return this.left <= 0;
  }

  take(): void {
    this.left -= 1;
  }
}

/** Nothing runs inline. */
export const NO_ROOM = new InlineRoom(0);

export type RunsBySubscription = ReadonlyMap<Subscription, InlineRun>;

export const NO_RUNS: RunsBySubscription = new Map();

/** Lets agents answer before the transaction that adds their executions, if they only compute. */
export interface InlineRunner {
  /** The runs of the executions that a new artifact triggers. */
  triggeredBy(
    draft: ArtifactDraft,
    artifact: AgentArtifact,
    triggered: readonly Triggered[],
    room: InlineRoom,
  ): Promise<RunsBySubscription>;
  /** The run of an execution that a caller asks for, or null if it runs later. `direct`: no agent reacts to its outputs. */
  invoked(subscription: Subscription, inputs: readonly ArtifactDraft[], direct: boolean): Promise<InlineRun | null>;
}

/** Has the runner of inline runs, which belongs to the executor, and reads what a transaction needs to store them. */
@Injectable()
export class InlineRuns {
  runner: InlineRunner | null = null;

  constructor(
    private readonly pauses: AgentPauses,
    private readonly writer: ArtifactWriter,
  ) {}

  /**
   * Reads the pauses and takes positions for the outputs. Call it after the artifacts that trigger these runs are inserted. Asks
   * nothing, and returns null, for an empty list.
   */
  async context(tx: Transaction, runs: readonly InlineRun[]): Promise<InlineContext | null> {
    if (runs.length === 0) return null;
    const outputs = runs.reduce((sum, run) => sum + run.outputs, 0);
    const [paused, positions] = await Promise.all([this.pauses.all(tx.db), this.writer.takePositions(tx, outputs)]);
    return { paused, positions };
  }
}
