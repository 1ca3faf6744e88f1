import { newId } from '../../src/common/ids.js';
import type { Transaction, UnitOfWork } from '../../src/database/unit-of-work.js';
import type { Random } from '../support/random.js';

export interface ModelArtifact {
  id: string;
  type: string;
  producer: string;
  kind: string;
  correlation: string;
  tags: string[];
  createdAt: number;
  /** The execution that produced it, as an index into the model's. */
  execution: number | null;
}

export interface ModelExecution {
  id: string;
  agent: string;
  failed: boolean;
  endedAt: number;
  /** Indices into the model's artifacts. */
  consumed: number[];
  produced: number[];
}

export interface ModelFilter {
  type?: string[];
  produced_by?: string[];
  visibility?: string[];
  correlation_id?: string;
  tag?: string[];
  from?: number;
  to?: number;
}

export const TYPES = ['Common', 'Usual', 'Rare', 'Absent'];
export const AGENTS = ['alpha', 'beta', 'gamma'];
export const PRODUCERS = ['external', ...AGENTS];
export const KINDS = ['Public', 'Private', 'After'];
export const TAGS = ['most', 'half', 'few', 'none'];
export const CORRELATIONS = ['big', 'c-1', 'c-2', 'c-3', 'unknown'];

export const START = Date.UTC(2026, 10, 20);
const HOUR_MS = 3_600_000;
/** All times are within this many hours. */
export const SPAN_MS = 12 * HOUR_MS;

/** A naive blackboard: lists that are filtered completely. The same rows are written to the tables. */
export class QueryModel {
  readonly artifacts: ModelArtifact[] = [];
  readonly executions: ModelExecution[] = [];
  private readonly positions = new Map<string, number>();

  constructor(private readonly random: Random) {}

  matching(filter: ModelFilter): ModelArtifact[] {
    return this.artifacts.filter((artifact) => matches(artifact, filter));
  }

  /** Returns the executions of `agent` that consumed or produced a match, by the hour of their end. */
  history(agent: string, filter: ModelFilter): Record<string, Record<string, number>> {
    const hours: Record<string, Record<string, number>> = {};
    const isMatch = (index: number): boolean => matches(this.artifacts[index]!, filter);
    const asksForNothing = Object.keys(filter).length === 0;
    for (const execution of this.executions.filter((candidate) => candidate.agent === agent)) {
      const consumed = execution.consumed.filter(isMatch).length;
      const produced = execution.produced.filter(isMatch).length;
      if (consumed + produced === 0 && !asksForNothing) continue;
      const name = new Date(execution.endedAt - (execution.endedAt % HOUR_MS)).toISOString().replace('.000Z', 'Z');
      const hour = (hours[name] ??= { executions: 0, failures: 0, artifacts_consumed: 0, artifacts_produced: 0 });
      hour.executions! += 1;
      hour.failures! += execution.failed ? 1 : 0;
      hour.artifacts_consumed! += consumed;
      hour.artifacts_produced! += produced;
    }
    return hours;
  }

  /** Adds artifacts, and executions that consume and produce some of them, to the model and the tables. */
  async grow(unitOfWork: UnitOfWork, count: number): Promise<void> {
    for (let added = 0; added < count; added += 500) {
      const from = { artifacts: this.artifacts.length, executions: this.executions.length };
      for (let n = 0; n < Math.min(500, count - added); n += 1) this.addArtifact();
      await unitOfWork.run((tx) => this.store(tx, from.artifacts, from.executions));
    }
  }

  private addArtifact(): void {
    const index = this.artifacts.length;
    const producer = this.pick([
      [6, 'external'],
      [3, 'alpha'],
      [1, 'beta'],
    ]);
    this.artifacts.push({
      id: newId(),
      type: this.pick([
        [80, 'Common'],
        [19, 'Usual'],
        [1, 'Rare'],
      ]),
      producer,
      kind: this.pick([
        [90, 'Public'],
        [9, 'Private'],
        [1, 'After'],
      ]),
      correlation: this.pick([
        [50, 'big'],
        [40, `other-${this.random.between(1, 500)}`],
        [1, 'c-1'],
        [1, 'c-2'],
        [1, 'c-3'],
      ]),
      tags: [
        ...(this.chance(0.95) ? ['most'] : []),
        ...(this.chance(0.5) ? ['half'] : []),
        ...(this.chance(0.005) ? ['few'] : []),
      ],
      // They are not in the order of positions, because clocks of several machines differ.
      createdAt: START + this.random.between(0, SPAN_MS / 1_000) * 1_000,
      execution: producer === 'external' ? null : this.executions.length,
    });
    if (producer !== 'external') this.addExecution(producer, [index]);
    // A failed execution without an output, whose inputs others consumed too.
    if (this.chance(0.05)) this.addExecution(AGENTS[this.random.between(0, 2)]!, []);
  }

  private addExecution(agent: string, produced: number[]): void {
    const last = this.artifacts.length - 1;
    const consumed = new Set(
      Array.from({ length: this.random.between(1, 3) }, () => this.random.between(Math.max(0, last - 5_000), last)),
    );
    const endedAt = START + this.random.between(0, SPAN_MS);
    this.executions.push({
      id: newId(),
      agent,
      failed: produced.length === 0,
      endedAt,
      consumed: [...consumed],
      produced,
    });
  }

  private async store(tx: Transaction, firstArtifact: number, firstExecution: number): Promise<void> {
    const artifacts = this.artifacts.slice(firstArtifact);
    await tx.db
      .insertInto('artifacts')
      .values(artifacts.map((artifact) => this.artifactRow(artifact)))
      .execute();
    await this.readPositions(tx, artifacts);
    const tags = artifacts.flatMap(({ id, tags: own }) =>
      own.map((tag) => ({ tag, artifact_seq: this.positions.get(id)! })),
    );
    if (tags.length > 0) await tx.db.insertInto('artifact_tags').values(tags).execute();
    for (const [correlation, members] of Map.groupBy(artifacts, (artifact) => artifact.correlation)) {
      await countInCorrelation(tx, correlation, members.length);
    }
    const executions = this.executions.slice(firstExecution);
    if (executions.length === 0) return;
    await tx.db.insertInto('executions').values(executions.map(executionRow)).execute();
    await tx.db.insertInto('activity').values(executions.map(activityRow)).execute();
    const consumptions = executions.flatMap(({ id, agent, consumed, endedAt }) =>
      consumed.map((index) => ({
        artifact_seq: this.positions.get(this.artifacts[index]!.id)!,
        execution_id: id,
        consumer: agent,
        consumed_at: endedAt,
      })),
    );
    await tx.db.insertInto('consumptions').values(consumptions).execute();
  }

  private async readPositions(tx: Transaction, artifacts: ModelArtifact[]): Promise<void> {
    const ids = artifacts.map(({ id }) => id);
    const rows = await tx.db.selectFrom('artifacts').select(['id', 'seq']).where('id', 'in', ids).execute();
    for (const { id, seq } of rows) this.positions.set(id, seq);
  }

  private artifactRow(artifact: ModelArtifact) {
    return {
      id: artifact.id,
      type: artifact.type,
      version: 1,
      payload: '{}',
      produced_by: artifact.producer,
      visibility: JSON.stringify({ kind: artifact.kind }),
      visibility_kind: artifact.kind,
      tags: JSON.stringify(artifact.tags),
      partition_key: null,
      correlation_id: artifact.correlation,
      execution_id: artifact.execution === null ? null : this.executions[artifact.execution]!.id,
      created_at: artifact.createdAt,
    };
  }

  private chance(probability: number): boolean {
    return this.random.next() < probability;
  }

  private pick(weighted: [number, string][]): string {
    let point = this.random.next() * weighted.reduce((sum, [weight]) => sum + weight, 0);
    return weighted.find(([weight]) => (point -= weight) < 0)![1];
  }
}

function matches(artifact: ModelArtifact, filter: ModelFilter): boolean {
  return (
    (filter.type?.includes(artifact.type) ?? true) &&
    (filter.produced_by?.includes(artifact.producer) ?? true) &&
    (filter.visibility?.includes(artifact.kind) ?? true) &&
    (filter.tag?.every((tag) => artifact.tags.includes(tag)) ?? true) &&
    (filter.correlation_id === undefined || filter.correlation_id === artifact.correlation) &&
    (filter.from === undefined || artifact.createdAt >= filter.from) &&
    (filter.to === undefined || artifact.createdAt <= filter.to)
  );
}

const executionRow = ({ id, agent, failed, endedAt }: ModelExecution) => ({
  id,
  agent,
  subscription: 0,
  correlation_id: 'big',
  generation: 1,
  state: failed ? ('failed' as const) : ('completed' as const),
  direct: 0,
  batch: 0,
  priority: 0,
  attempt: 1,
  lost_leases: 0,
  created_at: endedAt,
  ended_at: endedAt,
});

const activityRow = ({ agent, failed, endedAt, consumed, produced }: ModelExecution) => ({
  agent,
  hour: endedAt - (endedAt % HOUR_MS),
  executions: 1,
  failures: failed ? 1 : 0,
  artifacts_consumed: consumed.length,
  artifacts_produced: produced.length,
});

async function countInCorrelation(tx: Transaction, id: string, count: number): Promise<void> {
  await tx.db
    .insertInto('correlations')
    .values({
      id,
      state: 'completed',
      closed: 0,
      generation: 1,
      pending: 0,
      artifact_count: count,
      error_count: 0,
      output_count: 0,
      generation_executions: 0,
      limited_agents: '[]',
      started_at: START,
      last_activity_at: START,
      settled_at: START,
    })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({ artifact_count: eb('correlations.artifact_count', '+', count) })),
    )
    .execute();
}
