import { type CorrelationRow, countsOf } from '../../blackboard/correlations/tracked-correlation.js';
import { toTimestamp } from '../../common/timestamp.js';
import { usageField } from '../../http/dto/usage-body.js';
import type { CascadeArtifact } from './cascade.js';
import type { AgentTotalsRow, ComparedExecutionRow } from './compared-executions.repository.js';
import type {
  AgentTotalsBody,
  ComparedAgentBody,
  ComparedArtifactBody,
  ComparedCorrelationBody,
  ComparedExecutionBody,
  ComparedPairBody,
} from './dto/comparison-body.js';
import type { Pair } from './pairs.js';
import type { Changes } from './payload-changes.js';

export const correlationBody = (row: CorrelationRow, truncated: boolean): ComparedCorrelationBody => ({
  correlation_id: row.id,
  state: row.state,
  ...countsOf(row),
  started_at: toTimestamp(row.started_at),
  settled_at: row.settled_at === null ? null : toTimestamp(row.settled_at),
  duration_ms: between(row.started_at, row.settled_at),
  ...usageField(row),
  truncated,
});

/** Sorted by agent. */
export function agentBodies(left: readonly AgentTotalsRow[], right: readonly AgentTotalsRow[]): ComparedAgentBody[] {
  const find = (rows: readonly AgentTotalsRow[], agent: string): AgentTotalsBody | undefined => {
    const row = rows.find((one) => one.agent === agent);
    return row && totalsBody(row);
  };
  return [...new Set([...left, ...right].map(({ agent }) => agent))]
    .sort()
    .map((agent) => ({ agent, left: find(left, agent), right: find(right, agent) }));
}

const totalsBody = ({ executions, failed, attempts, duration_ms, ...sums }: AgentTotalsRow): AgentTotalsBody => ({
  executions,
  failed,
  attempts,
  duration_ms: duration_ms ?? 0,
  ...usageField(sums),
});

/** `changes` is null if the artifact has no counterpart. */
export function pairBody(
  { left, right, moved }: Pair,
  changes: Changes | null,
  executions: ReadonlyMap<string, ComparedExecutionRow>,
): ComparedPairBody {
  const { type, produced_by } = (left ?? right)!;
  const artifactOf = ({ id, created_at, execution_id }: CascadeArtifact): ComparedArtifactBody => {
    const execution = executions.get(execution_id ?? '');
    return { id, created_at: toTimestamp(created_at), ...(execution && { execution: executionBody(execution) }) };
  };
  return {
    result: resultOf(left, right, changes),
    type,
    produced_by,
    moved,
    ...(left && { left: artifactOf(left) }),
    ...(right && { right: artifactOf(right) }),
    changes: changes?.listed ?? [],
    changes_left_off: changes?.leftOff ?? 0,
  };
}

function resultOf(left: object | null, right: object | null, changes: Changes | null): ComparedPairBody['result'] {
  if (!left) return 'only_right';
  if (!right) return 'only_left';
  return changes && changes.listed.length + changes.leftOff > 0 ? 'changed' : 'equal';
}

const executionBody = (row: ComparedExecutionRow): ComparedExecutionBody => ({
  id: row.id,
  state: row.state,
  attempts: row.attempts,
  duration_ms: between(row.started_at, row.ended_at),
  ...usageField(row),
});

const between = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : to - from;
