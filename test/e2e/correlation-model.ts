import { newId } from '../../src/common/ids.js';
import type { CorrelationState, CorrelationTermKind } from '../../src/database/schema.js';
import type { Transaction, UnitOfWork } from '../../src/database/unit-of-work.js';
import type { Random } from '../support/random.js';

export interface ModelFilter {
  state?: CorrelationState;
  agent?: string;
  type?: string;
  tag?: string;
  /** Epoch ms. */
  from?: number;
  /** Epoch ms. */
  to?: number;
  id_prefix?: string;
}

export interface ModelCorrelation {
  seq: number;
  id: string;
  state: CorrelationState;
  agents: string[];
  types: string[];
  tags: string[];
  startedAt: number;
  /** Its terms are in their table. Otherwise, its artifacts and executions are there, and a rollup will find the terms. */
  isRolledUp: boolean;
}

export const STATES: CorrelationState[] = ['active', 'completed', 'failed', 'cancelled'];
export const TERMS = ['most', 'half', 'few', 'old', 'none'];
/** The ids are sorted by their bytes: `Z` comes before `a`, whatever the language of the database. */
export const PREFIXES = ['order-', 'order-1', 'Zebra', 'zebra', 'Zebra_', 'unknown', 'order-17'];

export const START = Date.UTC(2026, 10, 20);
/** All starts are within this time, and many are equal. */
export const SPAN_MS = 400_000;

/** A naive list of correlations, which is filtered and sorted completely. The same rows are written to the tables. */
export class CorrelationModel {
  readonly correlations: ModelCorrelation[] = [];

  constructor(private readonly random: Random) {}

  /** Newest first. */
  matching(filter: ModelFilter): ModelCorrelation[] {
    return this.correlations
      .filter((correlation) => matches(correlation, filter))
      .sort((one, other) => other.startedAt - one.startedAt || other.seq - one.seq);
  }

  /** Adds correlations to the model and the tables. */
  async grow(unitOfWork: UnitOfWork, count: number): Promise<void> {
    for (let added = 0; added < count; added += 500) {
      const first = this.correlations.length;
      for (let n = 0; n < Math.min(500, count - added); n += 1) this.add();
      await unitOfWork.run((tx) => store(tx, this.correlations.slice(first)));
    }
  }

  private add(): void {
    const startedAt = START + this.random.between(0, SPAN_MS / 1_000) * 1_000;
    const name = ['order', 'order', 'order', 'Zebra', 'zebra'][this.random.between(0, 4)]!;
    const id = this.chance(0.1) ? newId() : `${name}${'-_'[this.random.between(0, 1)]!}${this.correlations.length}`;
    const terms = (): string[] => [
      ...(this.chance(0.9) ? ['most'] : []),
      ...(this.chance(0.5) ? ['half'] : []),
      ...(this.chance(0.003) ? ['few'] : []),
      // The newest correlations lack it.
      ...(startedAt < START + SPAN_MS / 3 ? ['old'] : []),
    ];
    const state = this.chance(0.9) ? 'completed' : STATES[this.random.between(0, 3)]!;
    this.correlations.push({
      seq: this.correlations.length + 1,
      id,
      state,
      agents: terms(),
      types: terms(),
      tags: terms(),
      startedAt,
      isRolledUp: this.chance(0.95),
    });
  }

  private chance(probability: number): boolean {
    return this.random.next() < probability;
  }
}

const matches = (correlation: ModelCorrelation, filter: ModelFilter): boolean =>
  (filter.state === undefined || correlation.state === filter.state) &&
  (filter.agent === undefined || correlation.agents.includes(filter.agent)) &&
  (filter.type === undefined || correlation.types.includes(filter.type)) &&
  (filter.tag === undefined || correlation.tags.includes(filter.tag)) &&
  (filter.from === undefined || correlation.startedAt >= filter.from) &&
  (filter.to === undefined || correlation.startedAt <= filter.to) &&
  (filter.id_prefix === undefined || correlation.id.startsWith(filter.id_prefix));

async function store(tx: Transaction, correlations: readonly ModelCorrelation[]): Promise<void> {
  await tx.db.insertInto('correlations').values(correlations.map(correlationRow)).execute();
  const rolledUp = correlations.filter(({ isRolledUp }) => isRolledUp);
  await tx.db.insertInto('correlation_terms').values(rolledUp.flatMap(termRows)).execute();
  for (const correlation of correlations.filter(({ isRolledUp }) => !isRolledUp)) await storeContent(tx, correlation);
}

/** Stores executions of its agents and artifacts of its types, all with the same tags. */
async function storeContent({ db }: Transaction, correlation: ModelCorrelation): Promise<void> {
  const { id: correlation_id, agents, startedAt: created_at, tags } = correlation;
  if (agents.length > 0)
    await db
      .insertInto('executions')
      .values(agents.map((agent) => ({ ...ENDED_EXECUTION, id: newId(), agent, correlation_id, created_at })))
      .execute();
  // Its tags need an artifact, and this type is in no filter.
  for (const type of [...correlation.types, 'other']) {
    const artifact = { ...ARTIFACT, id: newId(), type, tags: JSON.stringify(tags), correlation_id, created_at };
    const { seq } = await db.insertInto('artifacts').values(artifact).returning('seq').executeTakeFirstOrThrow();
    if (tags.length > 0)
      await db
        .insertInto('artifact_tags')
        .values(tags.map((tag) => ({ tag, artifact_seq: seq })))
        .execute();
  }
}

const ENDED_EXECUTION = {
  subscription: 0,
  generation: 1,
  state: 'completed',
  direct: 0,
  batch: 0,
  priority: 0,
  attempt: 1,
  lost_leases: 0,
  ended_at: START,
} as const;

const ARTIFACT = {
  version: 1,
  payload: '{}',
  produced_by: 'external',
  visibility: '{"kind":"Public"}',
  visibility_kind: 'Public',
} as const;

const correlationRow = ({ seq, id, state, startedAt }: ModelCorrelation) => ({
  seq,
  id,
  state,
  closed: 0,
  generation: 1,
  pending: state === 'active' ? 1 : 0,
  artifact_count: 1,
  error_count: 0,
  output_count: 0,
  generation_executions: 0,
  limited_agents: '[]',
  started_at: startedAt,
  last_activity_at: startedAt,
  settled_at: state === 'active' ? null : startedAt + 250,
});

function termRows({ seq, agents, types, tags, startedAt }: ModelCorrelation) {
  const values: [CorrelationTermKind, string[]][] = [
    ['agent', agents],
    ['type', types],
    ['tag', tags],
  ];
  return values.flatMap(([kind, some]) =>
    some.map((value) => ({ kind, value, started_at: startedAt, correlation_seq: seq, unlisted: 1 })),
  );
}
