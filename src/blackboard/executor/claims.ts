import { Injectable } from '@nestjs/common';
import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { dialectOf } from '../../database/dialects/dialect.js';
import { preparedWithList } from '../../database/prepared.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { type Lease, RowClaims } from '../../leasing/row-claims.js';
import type { FreeSlots } from '../../leasing/slots.js';
import type { ArtifactRow } from '../artifact.js';
import { AgentPauses, claimLine } from './agent-pauses.js';
import { Backlog } from './backlog.js';
import { EXECUTIONS, type ExecutionRow } from './leased-executions.js';
import { RunningExecutions } from './running-executions.js';

/** An execution that this process holds by a lease. */
export interface ClaimedExecution {
  id: string;
  agent: string;
  correlationId: string;
  attempt: number;
  direct: boolean;
  batch: boolean;
  /** The guard of the outcome. */
  leaseToken: string;
  /** What caused it; null where nothing was traced. */
  traceparent: string | null;
  /** In the order in which the agent sees them. */
  inputs: ArtifactRow[];
  /** How long it waited to be claimed, in ms. */
  waitedMs: number;
}

type InputRow = ArtifactRow & { input_of: string };

/** Claims waiting executions. The claim is committed before an engine runs, so that a crash is seen as a lost lease. */
@Injectable()
export class Claims {
  readonly rows: RowClaims<ExecutionRow, InputRow>;

  constructor(
    private readonly catalog: Catalog,
    private readonly backlog: Backlog,
    private readonly running: RunningExecutions,
    private readonly pauses: AgentPauses,
    clock: Clock,
    unitOfWork: UnitOfWork,
  ) {
    const rules = {
      free: (tx: Transaction, agents: string[]) => this.freeOf(tx, agents),
      inputsOf: (tx: Transaction, ids: string[]) => inputsOf(tx.db, {}, ids),
      forget: () => running.forget(),
    };
    this.rows = new RowClaims(EXECUTIONS, rules, (agent) => this.prioritiesOf(agent), clock, unitOfWork);
  }

  /**
   * The claimed executions, and the agents that may have more waiting than there were slots for. `missed`: some were there, but held
   * by other transactions.
   */
  async claim(
    tx: Transaction,
    slots: FreeSlots,
    lease: Lease,
    now: number,
  ): Promise<{ claimed: ClaimedExecution[]; moreWaiting: string[]; missed: boolean }> {
    const { rows, leaseToken, inputs, moreWaiting, missed } = await this.rows.claim(tx, slots, lease, now);
    this.backlog.changed(tx, -rows.length);
    const inputsByExecution = Map.groupBy(inputs, ({ input_of }) => input_of);
    return { claimed: rows.map((row) => claimed(row, leaseToken, inputsByExecution.get(row.id) ?? [], now)), moreWaiting, missed };
  }

  /**
   * How many more of each agent may run, where its `concurrency` holds for all processes together; one alone counts by itself. None
   * of one that is paused.
   */
  private async freeOf(tx: Transaction, agents: string[]): Promise<Map<string, number>> {
    if (dialectOf(tx.db).exclusive) return none(await this.pauses.all(tx.db));
    // One process at a time counts what runs of an agent, and adds to it.
    const [, paused, ...counts] = await Promise.all([
      tx.lock(agents.map(claimLine)),
      this.pauses.all(tx.db),
      ...agents.map((agent) => this.running.count(tx, agent)),
    ]);
    const free = agents.map((agent, index) => [agent, Math.max((this.catalog.agent(agent)?.concurrency ?? 0) - counts[index]!, 0)] as const);
    return new Map([...free, ...none(paused)]);
  }

  /** Those that its subscriptions give. */
  private prioritiesOf(agent: string): number[] {
    return this.catalog.agent(agent)?.subscriptions.flatMap(({ priority }) => [2 * priority, 2 * priority - 1]) ?? [];
  }
}

const none = (agents: ReadonlyMap<string, unknown>): Map<string, number> => new Map([...agents.keys()].map((agent) => [agent, 0]));

const inputsOf = preparedWithList<object, string, InputRow>((db, _place, executionIds) =>
  db
    .selectFrom('execution_inputs')
    .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .selectAll('artifacts')
    .select('execution_inputs.execution_id as input_of')
    .where('execution_inputs.execution_id', 'in', executionIds)
    .orderBy('execution_inputs.execution_id')
    .orderBy('execution_inputs.position'),
);

const claimed = (row: ExecutionRow, leaseToken: string, inputs: ArtifactRow[], now: number): ClaimedExecution => ({
  id: row.id,
  agent: row.line,
  correlationId: row.correlation_id,
  attempt: row.attempt,
  direct: row.direct === 1,
  batch: row.batch === 1,
  leaseToken,
  traceparent: row.traceparent,
  inputs,
  waitedMs: now - row.created_at,
});
