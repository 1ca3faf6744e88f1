import { Injectable } from '@nestjs/common';
import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import { Settings } from '../../config/settings.js';
import type { ArtifactDraft } from '../artifacts/artifact-writer.js';
import { type MatchedArtifact, Publisher } from '../publishing/publisher.js';
import type { ClaimedExecution } from './claims.js';
import { type CheckedOutput, checkOutputs, OutputError } from './outputs.js';

/** What an answer needs to know of the execution that it is for. */
export type AnsweredExecution = Pick<ClaimedExecution, 'id' | 'correlationId' | 'direct'>;

const MATCHED_AT_ONCE = 16;

/** Makes artifacts of an agent's answer: checked, and with all that they will trigger. */
@Injectable()
export class Answers {
  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly publisher: Publisher,
  ) {}

  /** `problem`: why the answer cannot be published. */
  check(execution: AnsweredExecution, agent: AgentDefinition, answer: unknown): { drafts: ArtifactDraft[] } | { problem: string } {
    try {
      const now = this.clock.now();
      return { drafts: checkOutputs(answer, agent, this.catalog, this.settings).map((output) => draftOf(execution, agent, output, now)) };
    } catch (error) {
      // Whatever reading the answer throws is the answer's fault: getters and toJSON are the agent's own code.
      return { problem: error instanceof OutputError ? error.message : 'the answer cannot be read as JSON' };
    }
  }

  /**
   * Adds to `matched` what is not among it yet. Some at a time: a thousand outputs with a dozen predicates each would fill the
   * evaluator's queue for everybody. What is matched stays so when the rest has to be tried again.
   */
  async match({ direct }: AnsweredExecution, drafts: ArtifactDraft[], matched: MatchedArtifact[]): Promise<void> {
    const silent = (draft: ArtifactDraft): MatchedArtifact => ({ draft, releaseAt: null, triggered: [] });
    while (matched.length < drafts.length) {
      const next = drafts.slice(matched.length, matched.length + MATCHED_AT_ONCE);
      matched.push(...(await Promise.all(next.map((draft) => (direct ? silent(draft) : this.publisher.match(draft))))));
    }
  }
}

const draftOf = (execution: AnsweredExecution, agent: AgentDefinition, checked: CheckedOutput, now: number): ArtifactDraft => ({
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
  createdAt: now,
});
