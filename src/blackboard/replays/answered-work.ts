import { type AgentDefinition, OUTSIDE, type Subscription, WORKFLOW_ERROR } from '../../catalog/definitions.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { gathers } from '../matching/matcher.js';
import type { RecordedExecution, RecordedInput } from './record-rows.js';

/** Everything that is stored of a correlation that has ended. */
export interface CorrelationRecord {
  id: string;
  artifacts: readonly ArtifactRow[];
  executions: readonly RecordedExecution[];
  inputs: ReadonlyMap<string, readonly RecordedInput[]>;
  /** Uses of its artifacts in executions of other correlations. */
  usesElsewhere: readonly { agent: string; subscription: number; artifact_seq: number }[];
  /** The execution whose agent a caller named, or null. */
  invokedId: string | null;
}

/** The agents now. */
export interface CurrentAgents {
  agents: readonly AgentDefinition[];
  /** Whether the agent has this definition, itself or with one of its variants. Never for an agent that must run again. */
  isCurrent(agent: string, digest: string | null): boolean;
  /** Whether such a definition of the agent was in use before the correlation ended. */
  isAsOld(agent: string): boolean;
}

/**
 * Decides what a replay takes from the record: an execution if its agent has the same definition and its inputs are taken
 * too, and an artifact if it came from outside or from such an execution. Inputs of other correlations count as taken.
 */
export class AnsweredWork {
  /** Positions of the artifacts that are taken from the record. */
  readonly artifacts = new Set<number>();
  readonly executions: RecordedExecution[] = [];
  /** Executions that run again with their recorded inputs. */
  readonly runs: RecordedExecution[] = [];
  /** Types of which changed agents, and agents behind them, may publish others than before. */
  private readonly liveTypes: ReadonlySet<string>;
  private readonly taken = new Set<string>();
  private readonly changed = new Map<string, boolean>();

  constructor(
    private readonly record: CorrelationRecord,
    private readonly current: CurrentAgents,
  ) {
    this.liveTypes = this.typesBehind(current.agents.filter(({ name }) => this.mayDiffer(name)));
    const executions = new Map(record.executions.map((execution) => [execution.id, execution]));
    const seqs = new Map(record.artifacts.map(({ id, seq }) => [id, seq]));
    // The inputs of an execution come before its outputs.
    for (const artifact of record.artifacts) {
      const { seq, execution_id, produced_by } = artifact;
      const execution = execution_id === null ? undefined : executions.get(execution_id);
      if (execution_id === null && OUTSIDE.includes(produced_by)) this.artifacts.add(seq);
      else if (execution && this.isAnswered(execution)) this.artifacts.add(seq);
      else if (execution_id === null && !OUTSIDE.includes(produced_by)) this.addGroupError(artifact, seqs);
    }
    for (const execution of record.executions) this.addExecution(execution);
    for (const { agent, subscription, artifact_seq } of record.usesElsewhere)
      this.taken.add(place(agent, subscription, artifact_seq));
  }

  /** Whether the subscription decides again about an artifact that is taken from the record. */
  decidesAgain({ execution_id, seq }: ArtifactRow, subscription: Subscription): boolean {
    const { record } = this;
    const isInvokedInput = record.inputs.get(record.invokedId ?? '')?.some(({ artifact_seq }) => artifact_seq === seq);
    const isSilent = record.executions.some(({ id, direct }) => id === execution_id && direct === 1);
    if (isInvokedInput || isSilent) return false;
    const { agent, index } = subscription;
    if (!gathers(subscription)) return this.isChanged(agent);
    return this.mayGather(subscription) && !this.taken.has(place(agent, index, seq));
  }

  private addExecution(execution: RecordedExecution): void {
    const isAnswered = this.isAnswered(execution);
    if (isAnswered) this.executions.push(execution);
    // The artifact that took the place of its input runs.
    else if (execution.superseded_by === null && this.runsAgain(execution)) this.runs.push(execution);
    else if (execution.superseded_by === null) return;
    for (const { artifact_seq } of this.inputsOf(execution))
      this.taken.add(place(execution.agent, execution.subscription, artifact_seq));
  }

  private isAnswered(execution: RecordedExecution): boolean {
    return this.isStillValid(execution) && this.hasInputs(execution);
  }

  private isStillValid({ state, agent, definition }: RecordedExecution): boolean {
    const hasResult = state === 'completed' || state === 'failed';
    return hasResult && this.current.isCurrent(agent, definition);
  }

  /** A changed agent that reacts to single artifacts decides again, because its conditions may have changed too. */
  private runsAgain(execution: RecordedExecution): boolean {
    const agent = this.agent(execution.agent);
    if (!agent || !this.hasInputs(execution)) return false;
    const subscription = agent.subscriptions[execution.subscription];
    if (!subscription) return false;
    if (execution.id === this.record.invokedId) return true;
    if (!gathers(subscription)) return !this.isChanged(agent.name);
    const types = new Map(this.record.artifacts.map(({ seq, type }) => [seq, type]));
    return this.inputsOf(execution).every(({ artifact_seq }) => {
      const type = types.get(artifact_seq);
      return type === undefined || subscription.types.includes(type);
    });
  }

  private inputsOf({ id }: RecordedExecution): readonly RecordedInput[] {
    return this.record.inputs.get(id) ?? [];
  }

  private hasInputs(execution: RecordedExecution): boolean {
    const inputs = this.inputsOf(execution);
    return (
      inputs.length > 0 &&
      inputs.every(
        ({ artifact_seq, correlation_id }) =>
          correlation_id !== null && (correlation_id !== this.record.id || this.artifacts.has(artifact_seq)),
      )
    );
  }

  /** Takes the error of a group that ended without an execution, or of a limit. */
  private addGroupError({ seq, produced_by, payload }: ArtifactRow, seqs: ReadonlyMap<string, number>): void {
    const { input_artifact_ids: ids } = JSON.parse(payload) as { input_artifact_ids: string[] };
    const own = ids.flatMap((id) => seqs.get(id) ?? []);
    const mayDiffer = this.agent(produced_by)?.subscriptions.some((each) => this.mayGather(each)) ?? true;
    if (!mayDiffer && own.every((input) => this.artifacts.has(input))) this.artifacts.add(seq);
  }

  private agent(name: string): AgentDefinition | undefined {
    return this.current.agents.find((agent) => agent.name === name);
  }

  /** Whether its groups may differ from the recorded ones. Otherwise all that it gathered is in the record. */
  private mayGather({ agent, types }: Subscription): boolean {
    return this.isChanged(agent) || types.some((type) => this.liveTypes.has(type));
  }

  private mayDiffer(agent: string): boolean {
    const own = this.startedBy(agent);
    return this.isChanged(agent) || own.some((execution) => !this.isStillValid(execution));
  }

  /** Executions whose input was superseded never start, and say nothing about the agent. */
  private startedBy(agent: string): RecordedExecution[] {
    return this.record.executions.filter((execution) => execution.agent === agent && execution.superseded_by === null);
  }

  private typesBehind(agents: readonly AgentDefinition[]): Set<string> {
    const types = new Set<string>();
    const behind = [...agents];
    // Grows while it is walked.
    for (const agent of behind) {
      for (const type of [...agent.outputs.map((output) => output.type), WORKFLOW_ERROR]) types.add(type);
      const next = this.current.agents.filter(
        (other) =>
          !behind.includes(other) && other.subscriptions.some((each) => each.types.some((type) => types.has(type))),
      );
      behind.push(...next);
    }
    return types;
  }

  private isChanged(agent: string): boolean {
    const known = this.changed.get(agent);
    if (known !== undefined) return known;
    const own = this.startedBy(agent);
    const isChanged =
      own.length > 0
        ? own.every(({ definition }) => !this.current.isCurrent(agent, definition))
        : !this.current.isAsOld(agent);
    this.changed.set(agent, isChanged);
    return isChanged;
  }
}

const place = (agent: string, subscription: number, seq: number): string => JSON.stringify([agent, subscription, seq]);
