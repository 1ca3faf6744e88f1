import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { type Reader, UnitOfWork } from '../../database/unit-of-work.js';
import { effectOf } from '../../engines/effects.js';
import { findCorrelation } from '../correlations/correlation-rows.js';
import { changesIn, originKindIn } from '../correlations/replay-options.js';
import { Answers } from '../execution/answers.js';
import { type ExecutionFailure, notInShadow } from '../execution/ending-execution.js';
import { findInputArtifacts } from '../limits/keyless-rows.js';
import type { MatchedArtifact } from '../publishing/matched-artifacts.js';
import { recordedDraft } from './recorded-draft.js';
import { digestOf, type Parsing, RecordedInputs } from './recorded-inputs.js';
import {
  findOutputs,
  findRecordedAnswer,
  hasDefinitions,
  hasExecutions,
  type RecordedAnswer,
  type Unanswered,
} from './unanswered-rows.js';

const NO_RECORD =
  'a row of a CSV has no record to answer from; give the experiment the mode full, or correlations, artifacts or a batch instead of the CSV';

/**
 * Answers executions of shadow replays whose agents must not run: with the answer of an execution of the original that
 * had the same definition and equal inputs.
 */
@Injectable()
export class RecordedAnswers {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    private readonly inputs: RecordedInputs,
    private readonly answers: Answers,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the recorded execution, or a failure that says why there is none. Call this only if this process has the
   * configuration of the execution.
   */
  async find(
    execution: Unanswered,
    agent: AgentDefinition,
    parsing: Parsing,
  ): Promise<RecordedAnswer | ExecutionFailure> {
    const { reader } = this.unitOfWork;
    const { id, origin, batch, correlation_id: replay } = execution;
    // The attempts of the record would be mixed with its own.
    if (execution.attempt > 1 || execution.round > 0)
      return this.notRun(execution, agent, 'its definition has changed since the replay ran it');
    if (originKindIn(execution.replay_options) === 'experiment') return this.notRun(execution, agent, NO_RECORD);
    const definitions = this.catalogOf(execution, agent).digestsOf(agent.name);
    const answered = { replay, origin, agent: agent.name, definitions };
    const digest = await parsing(execution.input_bytes, async () =>
      digestOf(batch, await findInputArtifacts(reader, id)),
    );
    const { seq, hasAnswers } = await this.inputs.find(answered, digest, parsing);
    const recorded = seq === undefined ? undefined : await findRecordedAnswer(reader, seq);
    return recorded ?? this.notRun(execution, agent, await this.lackOf(origin, agent.name, hasAnswers));
  }

  /** Explains why the agent has no answer. `hasAnswers`: whether the original has answers of it to other inputs. */
  private async lackOf(origin: string, agent: string, hasAnswers: boolean): Promise<string> {
    const { reader } = this.unitOfWork;
    const deletion = await deletionOf(reader, origin);
    if (deletion !== null) return deletion;
    if (!hasAnswers && (await hasDefinitions(reader, origin, agent)))
      return `its definition has changed since the original ${origin} ran`;
    if (!hasAnswers && !(await hasExecutions(reader, origin)))
      return `the original ${origin} has no executions; retention may have deleted them`;
    return `the original ${origin} has no answer of it to equal inputs`;
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
    const deletion = await deletionOf(reader, execution.origin);
    if (deletion !== null) return this.notRun(execution, agent, deletion);
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

  private notRun(execution: Unanswered, { name }: AgentDefinition, lack: string): ExecutionFailure {
    const replayed = this.catalogOf(execution, { name }).agent(name)!;
    return notInShadow(name, effectOf(replayed) ?? 'its engine had effects', lack);
  }

  private catalogOf({ replay_options }: Unanswered, { name }: Pick<AgentDefinition, 'name'>): Catalog {
    return this.catalog.forReplay(name, changesIn(replay_options).configuration);
  }
}

/** Says that retention has deleted some of the original, if so. */
async function deletionOf(db: Reader, origin: string): Promise<string | null> {
  const original = await findCorrelation(db, origin);
  if (!original) return `retention has deleted the original ${origin}`;
  return original.deleted_artifacts > 0 ? `retention is deleting the original ${origin}` : null;
}
