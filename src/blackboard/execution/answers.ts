import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { GrowthLimit } from '../../catalog/growth-limit.js';
import { Clock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import type { MemoryReservation } from '../../common/memory-budget.js';
import { Settings } from '../../config/settings.js';
import type { ArtifactDraft } from '../artifacts/artifact-writer.js';
import { InlineRoom, NO_ROOM } from '../publishing/inline-runs.js';
import { type MatchedArtifact, MatchedArtifacts, untriggering } from '../publishing/matched-artifacts.js';
import type { ClaimedExecution } from './claimed-execution.js';
import { OutputMemory } from './output-memory.js';
import { type CheckedOutput, checkOutputs, OutputError } from './outputs.js';

/** The fields of an execution that its outputs need. */
export type AnsweredExecution = Pick<ClaimedExecution, 'id' | 'correlationId' | 'direct' | 'replay'>;

export interface CheckedAnswer {
  drafts: ArtifactDraft[];
  /** The memory of the defaults in the drafts. */
  memory?: MemoryReservation;
}

interface Problem {
  problem: string;
}

const MATCHED_AT_ONCE = 16;

/** Turns an agent's answer into checked artifacts, and matches these against the subscriptions. */
@Injectable()
export class Answers {
  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly artifacts: MatchedArtifacts,
    private readonly memory: OutputMemory,
  ) {}

  /** Returns why the answer cannot be published, or null. */
  problemOf(execution: AnsweredExecution, agent: AgentDefinition, answer: unknown): string | null {
    const checked = this.checkNow(execution, agent, answer);
    return 'problem' in checked ? checked.problem : null;
  }

  /**
   * Returns the artifacts, or in `problem` why the answer cannot be published. It waits for the memory of the defaults
   * in them, which the caller releases when they are stored.
   */
  async check(execution: AnsweredExecution, agent: AgentDefinition, answer: unknown): Promise<CheckedAnswer | Problem> {
    const checked = this.checkNow(execution, agent, answer);
    if ('problem' in checked || checked.grownBytes === 0) return checked;
    const { drafts, grownBytes } = checked;
    const memory = this.memory.reserveNow(grownBytes);
    return memory ? { drafts, memory } : this.checkLater(grownBytes, execution, agent, answer);
  }

  /** Returns the artifacts if they need no memory for defaults, and null if they do or if the answer cannot be published. */
  draftsNow(execution: AnsweredExecution, agent: AgentDefinition, answer: unknown): ArtifactDraft[] | null {
    const checked = this.checkNow(execution, agent, answer);
    return 'problem' in checked || checked.grownBytes > 0 ? null : checked.drafts;
  }

  /** Checks again after the wait, so that no artifacts with defaults are kept meanwhile. */
  private async checkLater(
    grownBytes: number,
    execution: AnsweredExecution,
    agent: AgentDefinition,
    answer: unknown,
  ): Promise<CheckedAnswer | Problem> {
    const memory = await this.memory.whenFree(grownBytes);
    const checked = this.checkNow(execution, agent, answer);
    if ('drafts' in checked) return { ...checked, memory };
    memory.release();
    return checked;
  }

  private checkNow(
    execution: AnsweredExecution,
    agent: AgentDefinition,
    answer: unknown,
  ): { drafts: ArtifactDraft[]; grownBytes: number } | Problem {
    try {
      const now = this.clock.now();
      const { maxTtlMs, bodyLimitBytes } = this.settings;
      const growth = new GrowthLimit(bodyLimitBytes);
      const outputs = checkOutputs(answer, agent, this.catalog, { maxTtlMs, bodyLimitBytes, growth });
      const drafts = outputs.map((output) => draftOf(execution, agent, output, now));
      return { drafts, grownBytes: growth.memoryBytes };
    } catch (error) {
      // Getters and toJSON are the agent's code, so every error from reading the answer is a problem of the answer.
      return { problem: error instanceof OutputError ? error.message : 'the answer cannot be read as JSON' };
    }
  }

  /**
   * Matches the drafts that `matched` does not have yet, and appends them. It matches some at a time, because a
   * thousand outputs with a dozen predicates each would fill the evaluator's queue for all executions. After an error,
   * a second call continues where the first one stopped. After a lost lease nothing runs inline: an agent that ends the
   * process would otherwise end it in each attempt of this one, which would fail in its place.
   */
  async match(
    { direct, hasLostLease = false }: Pick<AnsweredExecution, 'direct'> & { hasLostLease?: boolean },
    drafts: ArtifactDraft[],
    matched: MatchedArtifact[],
  ): Promise<void> {
    const room = hasLostLease ? NO_ROOM : new InlineRoom();
    const match = (draft: ArtifactDraft): MatchedArtifact | Promise<MatchedArtifact> =>
      direct ? untriggering(draft) : this.artifacts.match(draft, room);
    while (matched.length < drafts.length) {
      const next = drafts.slice(matched.length, matched.length + MATCHED_AT_ONCE);
      matched.push(...(await Promise.all(next.map(match))));
    }
  }
}

const draftOf = (
  execution: AnsweredExecution,
  agent: AgentDefinition,
  checked: CheckedOutput,
  now: number,
): ArtifactDraft => ({
  id: newId(),
  type: checked.type.name,
  version: checked.type.version,
  payload: checked.payload,
  payloadText: checked.payloadText,
  producedBy: agent.name,
  visibility: checked.output.visibility,
  tags: checked.output.tags,
  partitionKey: null,
  correlationId: execution.correlationId,
  executionId: execution.id,
  replay: execution.replay,
  createdAt: now,
});
