import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { type AgentDefinition, WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { canonicalJson, type JsonObject } from '../../common/json.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { effectOf } from '../../engines/effects.js';
import { artifactFromRow, type ArtifactRow } from '../artifacts/artifact.js';
import { findCorrelation } from '../correlations/correlation-rows.js';
import { Answers } from '../execution/answers.js';
import { type ExecutionFailure, notInShadow } from '../execution/ending-execution.js';
import { findInputArtifacts } from '../limits/keyless-rows.js';
import type { MatchedArtifact } from '../publishing/matched-artifacts.js';
import { recordedDraft } from './recorded-draft.js';
import { findOutputs, findRecordedAnswers, type RecordedAnswer, type Unanswered } from './unanswered-rows.js';

/**
 * Answers executions of shadow replays whose agents must not run: with the answer of an execution of the original that
 * had the same definition and equal inputs.
 */
@Injectable()
export class RecordedAnswers {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    private readonly answers: Answers,
    private readonly clock: Clock,
  ) {}

  /** Returns the recorded execution, or a failure that says why there is none. */
  async find(execution: Unanswered, agent: AgentDefinition): Promise<RecordedAnswer | ExecutionFailure> {
    const { reader } = this.unitOfWork;
    const { origin } = execution;
    // The attempts of the record would be mixed with its own.
    if (execution.attempt > 1 || execution.round > 0)
      return notRun(agent, 'its definition has changed since the replay ran it');
    const digest = this.catalog.definitions.get(agent.name)?.digest;
    const all = await findRecordedAnswers(reader, origin, agent.name);
    const ended = all.filter(({ state }) => state === 'completed' || state === 'failed');
    const usable = ended.filter(({ definition }) => definition !== null && definition === digest);
    const inputs = seenBy(await findInputArtifacts(reader, execution.id));
    for (const recorded of usable) {
      // Equal inputs have equally many bytes.
      if (recorded.batch !== execution.batch || recorded.input_bytes !== execution.input_bytes) continue;
      if (seenBy(await findInputArtifacts(reader, recorded.id)) === inputs) return recorded;
    }
    const lack =
      usable.length === 0 && ended.some(({ definition }) => definition !== null)
        ? `its definition has changed since the original ${origin} ran`
        : `the original ${origin} has no answer of it to equal inputs`;
    return notRun(agent, lack);
  }

  /**
   * Returns what the recorded execution published, as outputs of this one, or a failure if retention may have deleted
   * some of it.
   */
  async outputsOf(
    recorded: RecordedAnswer,
    execution: Unanswered,
    agent: AgentDefinition,
  ): Promise<MatchedArtifact[] | ExecutionFailure> {
    const { reader } = this.unitOfWork;
    const rows = await findOutputs(reader, recorded.id);
    const original = await findCorrelation(reader, execution.origin);
    if (!original || original.deleted_artifacts > 0)
      return notRun(agent, `retention is deleting the original ${execution.origin}`);
    const owner = {
      correlationId: execution.correlation_id,
      executionId: execution.id,
      createdAt: this.clock.now(),
    };
    const drafts = rows.map((row) => recordedDraft(row, owner));
    const matched: MatchedArtifact[] = [];
    await this.answers.match({ direct: execution.direct === 1 }, drafts, matched);
    return matched;
  }
}

const notRun = (agent: AgentDefinition, lack: string): ExecutionFailure =>
  notInShadow(agent.name, effectOf(agent) ?? 'its engine had effects', lack);

/** A text of all that an agent sees of its inputs, except ids and times, which differ in every replay. */
const seenBy = (inputs: readonly ArtifactRow[]): string =>
  canonicalJson(
    inputs
      .map(artifactFromRow)
      .map(({ type, version, payload, tags, produced_by, partition_key }) => [
        type,
        version,
        type === WORKFLOW_ERROR ? withoutIds(payload) : payload,
        tags,
        produced_by,
        partition_key,
      ]),
  );

/** The ids and the time of a WorkflowError are in its payload. */
const withoutIds = (payload: JsonObject): JsonObject => ({
  ...payload,
  execution_id: null,
  input_artifact_ids: null,
  timestamp: null,
});
