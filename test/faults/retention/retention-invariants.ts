import type { Rows } from '../../support/database.js';
import { integrity } from '../integrity.js';

/** References between tables: every value of the first column must exist in the second. */
const REFERENCES: [from: string, to: string, where?: string][] = [
  ['artifacts.correlation_id', 'correlations.id'],
  ['executions.correlation_id', 'correlations.id'],
  ['runs.id', 'correlations.id'],
  ['artifact_tags.artifact_seq', 'artifacts.seq'],
  ['consumptions.artifact_seq', 'artifacts.seq'],
  ['join_arrivals.artifact_seq', 'artifacts.seq'],
  ['join_arrivals.group_id', 'join_groups.id'],
  ['execution_inputs.execution_id', 'executions.id'],
  ['execution_attempts.execution_id', 'executions.id'],
  [
    'execution_inputs.artifact_seq',
    'artifacts.seq',
    `exists (select 1 from executions e where e.id = held.execution_id and e.state in ('pending', 'running'))`,
  ],
];

const ACTUAL = `(select count(*) from artifacts a where a.correlation_id = c.id)`;

/** Returns one line for each broken invariant that applies at any time, whatever is being deleted. */
export const retentionBreaches = async (rows: Rows): Promise<string[]> => [
  ...(await integrity(rows)),
  ...(await dangling(rows)),
  ...(
    await rows<{ id: string }>(`select id from correlations c where artifact_count - deleted_artifacts <> ${ACTUAL}`)
  ).map(({ id }) => `the counts of ${id} differ from its artifacts`),
  ...(await wrongTotals(rows)),
];

async function dangling(rows: Rows): Promise<string[]> {
  const found: string[] = [];
  for (const [from, to, where] of REFERENCES) {
    const [table, column] = from.split('.');
    const [target, key] = to.split('.');
    const lost = await rows(
      `select 1 from ${table} held where not exists (select 1 from ${target} t where t.${key} = held.${column}) and ${where ?? 'true'}`,
    );
    if (lost.length > 0) found.push(`${lost.length} of ${from} are not in ${to}`);
  }
  return found;
}

/** Checks that the rollups are the totals of the rows, up to their positions. */
async function wrongTotals(rows: Rows): Promise<string[]> {
  const kind = `type || ' of ' || produced_by || ', ' || visibility_kind`;
  const rolledUpTo = `(select up_to_seq from rollups where name = 'artifacts')`;
  const [counted, there] = await Promise.all([
    rows<{ kind: string; count: number | string }>(`select ${kind} as kind, count from artifact_counts
       union all select 'replayed ' || ${kind}, count from replay_counts`),
    rows<{ kind: string; count: number | string }>(
      `select case replay when 1 then 'replayed ' else '' end || ${kind} as kind, count(*) as count from artifacts
       where seq <= ${rolledUpTo} group by 1`,
    ),
  ]);
  const actual = new Map(there.map((row) => [row.kind, Number(row.count)]));
  const kinds = new Set([...actual.keys(), ...counted.map((row) => row.kind)]);
  const total = new Map(counted.map((row) => [row.kind, Number(row.count)]));
  return [...kinds]
    .filter((one) => (actual.get(one) ?? 0) !== (total.get(one) ?? 0))
    .map((one) => `${total.get(one) ?? 0} ${one} are counted, and ${actual.get(one) ?? 0} are there`);
}
