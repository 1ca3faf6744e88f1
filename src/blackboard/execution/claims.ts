import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { preparedWithList } from '../../database/prepared.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import type { LeasedTable } from '../../queue/leased-table.js';
import { type Claimed, type Lease, RowClaims } from '../../queue/row-claims.js';
import type { FreeSlots } from '../../queue/slots.js';
import { type ArtifactRow, SHARED_COLUMNS } from '../artifacts/artifact.js';
import { AgentLimits } from './agent-limits.js';
import { Backlog } from '../scheduling/backlog.js';
import { EXECUTIONS, type ExecutionRow, UNASSIGNED } from './leased-executions.js';

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
  /** Of an external agent's, whose it is; null where it is anybody's. */
  assignee: string | null;
  /** When it is escalated or fails, if it has not ended (epoch ms); null for never. */
  dueAt: number | null;
  /** In the order in which the agent sees them. */
  inputs: ClaimedInput[];
  /** How long it waited to be claimed, in ms. */
  waitedMs: number;
}

/** An input of a claimed execution. */
export type ClaimedInput = Pick<ArtifactRow, (typeof SHARED_COLUMNS)[number] | 'seq'> & {
  /** Null where it is not small: that is read when there is memory for it (see InputParsing). */
  payload: string | null;
  payload_bytes: number;
};

type InputRow = ClaimedInput & { input_of: string };

/**
 * Bytes of a payload that are read with a claim: of the first input as many, of the next half of it, and so on, so that a thousand
 * inputs come to eight times as much together. A round claims 64 executions.
 */
const SMALL_PAYLOAD_BYTES = 64 * 1_024;

/** Claims waiting executions. The claim is committed before an engine runs, so that a crash is seen as a lost lease. */
@Injectable()
export class Claims {
  readonly rows: RowClaims<ExecutionRow, InputRow>;
  /** For workers that fetch unassigned work: assigned work is passed over and stays in its queue. Without inputs. */
  readonly unassigned: RowClaims<ExecutionRow, InputRow>;

  constructor(
    catalog: Catalog,
    private readonly backlog: Backlog,
    limits: AgentLimits,
    clock: Clock,
    unitOfWork: UnitOfWork,
  ) {
    const rules = {
      free: (tx: Transaction, agents: string[]) => limits.free(tx, agents),
      forget: () => limits.forget(),
    };
    type Inputs = (tx: Transaction, ids: string[]) => Promise<InputRow[]>;
    const rowsOf = (table: LeasedTable, inputsOf: Inputs): RowClaims<ExecutionRow, InputRow> =>
      new RowClaims(table, { ...rules, inputsOf }, (agent) => prioritiesOf(catalog.agent(agent)), clock, unitOfWork);
    this.rows = rowsOf(EXECUTIONS, (tx, ids) => inputsOf(tx.db, {}, ids));
    // Workers outside get the inputs in an answer, which reads them while it is sent.
    this.unassigned = rowsOf(UNASSIGNED, async () => []);
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
    rows = this.rows,
  ): Promise<{ claimed: ClaimedExecution[]; moreWaiting: string[]; missed: boolean }> {
    const { moreWaiting, missed, ...taken } = await rows.claim(tx, slots, lease, now);
    return { claimed: this.claimed(tx, taken, now), moreWaiting, missed };
  }

  /** Claims executions that were found in another way than by their places in the queue. Without inputs. */
  async claimThese(tx: Transaction, found: readonly ExecutionRow[], lease: Lease, now: number): Promise<ClaimedExecution[]> {
    return this.claimed(tx, await this.unassigned.claimThese(tx, found, lease, now), now);
  }

  private claimed(tx: Transaction, { rows, leaseToken, inputs }: Pick<Claimed<ExecutionRow, InputRow>, 'rows' | 'leaseToken' | 'inputs'>, now: number): ClaimedExecution[] {
    this.backlog.changed(tx, -rows.length);
    const inputsByExecution = Map.groupBy(inputs, ({ input_of }) => input_of);
    return rows.map((row) => claimedExecution(row, leaseToken, inputsByExecution.get(row.id) ?? [], now));
  }
}

/** Those that its subscriptions give to its executions. */
const prioritiesOf = (agent: AgentDefinition | undefined): number[] => agent?.subscriptions.flatMap(({ priority }) => [2 * priority, 2 * priority - 1]) ?? [];

const SIZE = sql<number>`octet_length(artifacts.payload)`;

const SMALL_PAYLOAD = sql<string | null>`case when ${SIZE} <= ${sql.lit(SMALL_PAYLOAD_BYTES)} / (execution_inputs.position + 1) then artifacts.payload end`;

const inputsOf = preparedWithList<object, string, InputRow>((db, _place, executionIds) =>
  db
    .selectFrom('execution_inputs')
    .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .select(['artifacts.seq', ...SHARED_COLUMNS.map((column) => `artifacts.${column}` as const)])
    .select(['execution_inputs.execution_id as input_of', SIZE.as('payload_bytes'), SMALL_PAYLOAD.as('payload')])
    .where('execution_inputs.execution_id', 'in', executionIds)
    .orderBy('execution_inputs.execution_id')
    .orderBy('execution_inputs.position'),
);

const claimedExecution = (row: ExecutionRow, leaseToken: string, inputs: ClaimedInput[], now: number): ClaimedExecution => ({
  id: row.id,
  agent: row.queue,
  correlationId: row.correlation_id,
  attempt: row.attempt,
  direct: row.direct === 1,
  batch: row.batch === 1,
  leaseToken,
  traceparent: row.traceparent,
  assignee: row.assignee,
  dueAt: row.due_at,
  inputs,
  waitedMs: now - row.created_at,
});
