import { Injectable } from '@nestjs/common';
import { type Selectable, sql } from 'kysely';

import { OUTSIDE } from '../../catalog/definitions.js';
import type { CorrelationsTable, ExecutionsTable, JoinGroupsTable } from '../../database/schema.js';
import { type Reader, UnitOfWork } from '../../database/unit-of-work.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { hasWindowKey } from '../joins/join-group-rows.js';
import type { ArtifactFilter } from '../queries/artifact-filter.js';
import type { Path, Window } from '../queries/artifact-paths.js';
import { matchingAlong } from '../queries/path-rows.js';

type ExecutionColumn =
  | 'id'
  | 'agent'
  | 'subscription'
  | 'correlation_id'
  | 'state'
  | 'configuration'
  | 'direct'
  | 'replay'
  | 'attempt'
  | 'seq'
  | 'priority'
  | 'background'
  | 'available_at'
  | 'blocked_on'
  | 'held_keys'
  | 'limit_keys'
  | 'fair_key'
  | 'ended_at'
  | 'error_message'
  | 'cancelled_by'
  | 'cached_from'
  | 'skipped_for'
  | 'superseded_by'
  | 'variant'
  | OutsideColumn;
/** The columns that say who must do the work outside of Starling, and who is doing it. */
type OutsideColumn = 'assignee' | 'claimed_by' | 'lease_owner' | 'lease_until';

export type ExecutionOfInput = Pick<Selectable<ExecutionsTable>, ExecutionColumn> & {
  /** True if a caller named the agent, for a run or a direct run. */
  invoked: boolean;
  /** True if it waits for room in a budget. */
  waitsForBudget: boolean;
  /** True if it waits because its agent is paused. */
  paused: boolean;
};

export type GroupOfArrival = Pick<
  Selectable<JoinGroupsTable>,
  'id' | 'agent' | 'subscription' | 'key' | 'state' | 'size' | 'opened_at' | 'closes_at'
> & {
  /** Types of a join's members; empty for a window. */
  types: string[];
};

/** The stored data about an artifact's way to its subscriptions. */
export interface Recorded {
  /** When it will be offered to its subscriptions (epoch ms). Null if it has been, or never will be. */
  releaseAt: number | null;
  groups: GroupOfArrival[];
  executions: ExecutionOfInput[];
  /** Null if the correlation is no longer stored. */
  correlation: Pick<
    Selectable<CorrelationsTable>,
    'state' | 'closed' | 'error_count' | 'replay_mode' | 'started_at'
  > | null;
  /** The agent of the direct run that published it. No agent reacts to outputs of a direct run. */
  directRunOf: string | null;
  /** The column `replay` of the execution that published the artifact. Null if no stored execution did. */
  replayOfProducer: number | null;
}

/**
 * Reads the tables in the order in which artifacts move through them. What moves during the read is found in its next
 * place. An artifact that is released, joined or cancelled meanwhile therefore never seems to be missing.
 */
@Injectable()
export class Records {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  async of(artifact: ArtifactRow): Promise<Recorded> {
    const { reader } = this.unitOfWork;
    const releaseAt = await releaseOf(reader, artifact);
    const groups = await groupsOf(reader, artifact);
    const executions = await executionsOf(reader, artifact);
    const correlation = await reader
      .selectFrom('correlations')
      .select(['state', 'closed', 'error_count', 'replay_mode', 'started_at'])
      .where('id', '=', artifact.correlation_id)
      .executeTakeFirst();
    const producer = await producerOf(reader, artifact);
    return {
      releaseAt,
      groups,
      executions,
      correlation: correlation ?? null,
      directRunOf: producer?.direct === 1 ? producer.agent : null,
      replayOfProducer: producer?.replay ?? null,
    };
  }
}

async function releaseOf(reader: Reader, { seq }: ArtifactRow): Promise<number | null> {
  const timer = await reader
    .selectFrom('timers')
    .select('due_at')
    .where('subject', '=', String(seq))
    .where('kind', '=', 'release')
    .executeTakeFirst();
  return timer?.due_at ?? null;
}

/** One statement reads a group and its members, because they change together. */
async function groupsOf(reader: Reader, { seq, correlation_id }: ArtifactRow): Promise<GroupOfArrival[]> {
  const rows = await reader
    .selectFrom('join_arrivals as own')
    .innerJoin('join_groups as group', 'group.id', 'own.group_id')
    .leftJoin('join_arrivals as member', (join) =>
      join.onRef('member.group_id', '=', 'own.group_id').on(({ not }) => not(hasWindowKey('own.key'))),
    )
    .select([
      'group.id',
      'group.agent',
      'group.subscription',
      'group.key',
      'group.state',
      'group.size',
      'group.opened_at',
      'group.closes_at',
    ])
    .select('member.type')
    .where('own.correlation_id', '=', correlation_id)
    .where('own.artifact_seq', '=', seq)
    .execute();
  return [...Map.groupBy(rows, ({ id }) => id).values()].map((members) => ({
    ...members[0]!,
    types: members.flatMap(({ type }) => type ?? []),
  }));
}

async function executionsOf(reader: Reader, { seq }: ArtifactRow): Promise<ExecutionOfInput[]> {
  const rows = await reader
    .selectFrom('execution_inputs')
    .innerJoin('executions', 'executions.id', 'execution_inputs.execution_id')
    .leftJoin('runs', (join) =>
      join.onRef('runs.id', '=', 'executions.correlation_id').onRef('runs.execution_id', '=', 'executions.id'),
    )
    .leftJoin('agent_pauses', 'agent_pauses.agent', 'executions.agent')
    .leftJoin('budget_reservations', 'budget_reservations.execution_id', 'executions.id')
    .select([
      'executions.id',
      'executions.agent',
      'executions.subscription',
      'executions.correlation_id',
      'executions.state',
      'executions.configuration',
      'executions.direct',
      'executions.replay',
      'executions.attempt',
      'executions.seq',
      'executions.priority',
      'executions.background',
      'executions.available_at',
      'executions.blocked_on',
      'executions.held_keys',
      'executions.limit_keys',
      'executions.fair_key',
      'executions.ended_at',
      'executions.error_message',
      'executions.cancelled_by',
      'executions.cached_from',
      'executions.skipped_for',
      'executions.superseded_by',
      'executions.variant',
      'executions.assignee',
      'executions.claimed_by',
      'executions.lease_owner',
      'executions.lease_until',
      'runs.id as run_id',
      'agent_pauses.paused_at',
      'budget_reservations.waits',
    ])
    .where('execution_inputs.artifact_seq', '=', seq)
    .orderBy('executions.seq')
    .execute();
  return rows.map(({ run_id, paused_at, waits, ...row }) => ({
    ...row,
    invoked: run_id !== null || row.direct === 1,
    paused: paused_at !== null,
    waitsForBudget: waits === 1,
  }));
}

async function producerOf(
  reader: Reader,
  { execution_id }: ArtifactRow,
): Promise<Pick<Selectable<ExecutionsTable>, 'agent' | 'direct' | 'replay'> | undefined> {
  if (execution_id === null) return undefined;
  return reader
    .selectFrom('executions')
    .select(['agent', 'direct', 'replay'])
    .where('id', '=', execution_id)
    .executeTakeFirst();
}

/** A WorkflowError that belongs to no execution. */
export interface StoredError {
  seq: number;
  id: string;
  /** Bytes of its payload. */
  bytes: number;
}

/** Finds the WorkflowErrors on a path and in a window that match a filter and belong to no execution. */
export const findErrorsWithoutExecution = (
  reader: Reader,
  path: Path,
  window: Window,
  filter: ArtifactFilter,
): Promise<StoredError[]> =>
  matchingAlong(reader, path, window, filter)
    .select(['artifacts.seq', 'artifacts.id', sql<number>`octet_length(artifacts.payload)`.as('bytes')])
    .where('artifacts.execution_id', 'is', null)
    .where('artifacts.produced_by', 'not in', OUTSIDE)
    .execute();
