import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition, Subscription } from '../../catalog/definitions.js';
import { newId } from '../../common/ids.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { AgentArtifact } from '../../engines/engine.js';
import type { ArtifactDraft } from '../artifacts/artifact-writer.js';
import { agentArtifactFromDraft } from '../artifacts/execution-input.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { gathers, type Triggered } from '../matching/matcher.js';
import {
  InlineRoom,
  type InlineRunner,
  InlineRuns,
  NO_RUNS,
  type RunsBySubscription,
} from '../publishing/inline-runs.js';
import {
  areFewAndShort,
  isShort,
  type MatchedArtifact,
  MatchedArtifacts,
  untriggering,
} from '../publishing/matched-artifacts.js';
import { storeCompleted } from '../scheduling/completed-rows.js';
import type { InlineContext, InlineRun } from '../scheduling/inline-run.js';
import type { NewExecutionRow } from '../scheduling/queued-execution-rows.js';
import { countImmediateStart } from './activity-event-rows.js';
import { Answers } from './answers.js';
import { AttemptReports } from './attempt-reports.js';
import { definitionOf } from './claimed-execution.js';
import { type EndedExecution, EndedExecutions } from './ended-executions.js';
import { InlineAnswers } from './inline-answers.js';
import { StartedExecutions } from './started-executions.js';

interface Stored {
  row: NewExecutionRow;
  inputs: { seq: number; id: string }[];
  outputs: readonly MatchedArtifact[];
  inlineContext: InlineContext;
}

/**
 * Runs agents that only compute before the transaction that triggers them, so that their executions are stored as completed and need
 * no claim and no further transaction. Nothing outside can see that such an agent has run, and a rollback discards its answer.
 */
@Injectable()
export class InlineExecutions implements InlineRunner {
  constructor(
    inlineRuns: InlineRuns,
    private readonly catalog: Catalog,
    private readonly started: StartedExecutions,
    private readonly inlineAnswers: InlineAnswers,
    private readonly answers: Answers,
    private readonly artifacts: MatchedArtifacts,
    private readonly endedExecutions: EndedExecutions,
    private readonly reports: AttemptReports,
  ) {
    inlineRuns.runner = this;
  }

  async triggeredBy(
    draft: ArtifactDraft,
    artifact: AgentArtifact,
    triggered: readonly Triggered[],
    room: InlineRoom,
  ): Promise<RunsBySubscription> {
    const runs = new Map<Subscription, InlineRun>();
    if (draft.replay || !isShort(draft)) return runs;
    for (const { subscription } of triggered) {
      if (gathers(subscription)) continue;
      const run = await this.runOf(subscription, [artifact], { direct: false, room });
      if (run) runs.set(subscription, run);
    }
    return runs;
  }

  async invoked(
    subscription: Subscription,
    drafts: readonly ArtifactDraft[],
    direct: boolean,
  ): Promise<InlineRun | null> {
    if (!areFewAndShort(drafts) || drafts.some(({ replay }) => replay)) return null;
    return this.runOf(subscription, drafts.map(agentArtifactFromDraft), { direct, room: new InlineRoom() });
  }

  /** Null if the execution cannot end in the transaction that adds it. */
  private async runOf(
    { agent: name, batch }: Subscription,
    inputs: AgentArtifact[],
    { direct, room }: { direct: boolean; room: InlineRoom },
  ): Promise<InlineRun | null> {
    const agent = this.catalog.agent(name)!;
    if (hasRules(agent) || !this.started.mayEndInline(agent) || room.isFull || !this.inlineAnswers.asks(agent))
      return null;
    room.take();
    const { correlation_id: correlationId } = inputs[0]!;
    const execution = { id: newId(), correlationId, direct, replay: false };
    const answered = await this.inlineAnswers.of({ ...execution, agent, inputs, batch: batch !== null });
    const drafts = answered && this.answers.draftsNow(execution, agent, answered.answer);
    const outputs = drafts && (await this.outputsOf(drafts, direct, room));
    this.inlineAnswers.count(agent, outputs !== null && answered!.isQuick);
    if (!outputs) return null;
    const ids = inputs.map(({ id }) => id);
    return {
      executionId: execution.id,
      outputs: countOf(outputs),
      mayEnd: () => this.started.mayEndInline(agent),
      store: (tx, changes, correlation, { row, inputs: seqs, inlineContext }) => {
        const stored = seqs.map((seq, index) => ({ seq, id: ids[index]! }));
        return this.store(tx, changes, correlation, { row, inputs: stored, outputs, inlineContext });
      },
    };
  }

  /** Null if one of the outputs triggers something that the transaction is not made for. */
  private async outputsOf(
    drafts: readonly ArtifactDraft[],
    direct: boolean,
    room: InlineRoom,
  ): Promise<MatchedArtifact[] | null> {
    if (!areFewAndShort(drafts)) return null;
    if (direct) return drafts.map(untriggering);
    const outputs: MatchedArtifact[] = [];
    for (const draft of drafts) {
      const output = await this.artifacts.match(draft, room);
      if (!this.isPlain(output)) return null;
      outputs.push(output);
    }
    return outputs;
  }

  private async store(
    tx: Transaction,
    changes: CorrelationChanges,
    correlation: TrackedCorrelation,
    { row, inputs, outputs, inlineContext }: Stored,
  ): Promise<void> {
    const { now } = changes;
    const definition = definitionOf(this.catalog, row.agent);
    const times = { started_at: now, attempt_started_at: now, ended_at: now };
    const execution = {
      ...{ id: row.id, agent: row.agent, attempt: row.attempt, correlationId: correlation.id, replay: false },
      inputs,
      span: this.reports.span({ ...row, correlationId: correlation.id, replay: false }),
    };
    const { span } = execution;
    storeCompleted(tx, changes, {
      row: { ...row, state: 'completed', ...times, definition },
      inputs: inputs.map(({ seq }) => seq),
    });
    changes.inlineEnds.add({
      correlationId: correlation.id,
      span,
      record: () => this.recordEnd(tx, changes, execution, outputs.length),
      report: () => {
        this.reports.claimed({ ...execution, waitedMs: 0 });
        this.reports.ended(execution, { outcome: 'completed' }, 0);
      },
    });
    const stored = await this.artifacts.insertInline(tx, outputs, inlineContext);
    await changes.causedBy(correlation, span, () => this.artifacts.trigger(tx, changes, correlation, stored));
  }

  private async recordEnd(
    tx: Transaction,
    changes: CorrelationChanges,
    execution: EndedExecution,
    outputs: number,
  ): Promise<void> {
    const { now } = changes;
    this.reports.startedIn(tx, execution, now);
    await countImmediateStart(tx, execution, now);
    await this.endedExecutions.completed(tx, changes, execution, { ...NO_LEASE, started_at: now }, outputs);
  }

  /** Whether the artifact triggers nothing that needs a lock or a timer, and cancels nothing. */
  private isPlain(output: MatchedArtifact): boolean {
    return (
      output.releaseAt === null &&
      output.cancels.length === 0 &&
      this.artifacts.lockKeys([output]).length === 0 &&
      !output.triggered.some(({ subscription }) => gathers(subscription))
    );
  }
}

/** How many artifacts these are, with those of the inline runs that they trigger. */
const countOf = (outputs: readonly MatchedArtifact[]): number =>
  outputs.reduce(
    (sum, { inline = NO_RUNS }) => sum + 1 + [...inline.values()].reduce((below, run) => below + run.outputs, 0),
    0,
  );

/** The columns that the end of a lease returns. */
const NO_LEASE = { round: 0, due_at: null, singleton_key: null, held_keys: null };

/** Agents with these options need what a claim or the end of an attempt does for them. */
const hasRules = ({ cache, variants, breaker, singleton, budget, limits }: AgentDefinition): boolean =>
  Boolean(cache || variants || breaker || singleton || budget || limits.length > 0);
