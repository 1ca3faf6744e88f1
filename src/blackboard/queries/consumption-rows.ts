import type { Selectable } from 'kysely';

import { toTimestamp } from '../../common/timestamp.js';
import { preparedWithList } from '../../database/prepared.js';
import type { ConsumptionsTable } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';

type ConsumptionRow = Selectable<ConsumptionsTable>;

/** Returns, for each artifact, the JSON fields that `embed_meta` adds: its consumers, sorted by time. */
export async function consumptionsOf(reader: Reader, seqs: readonly number[]): Promise<(seq: number) => string> {
  const bySeq = Map.groupBy(await findConsumptions(reader, {}, seqs), ({ artifact_seq }) => artifact_seq);
  return (seq) => consumptionFields(bySeq.get(seq) ?? []);
}

function consumptionFields(consumptions: readonly ConsumptionRow[]): string {
  const shown = consumptions.map(({ consumer, execution_id, consumed_at }) => ({
    consumer,
    run_id: execution_id,
    consumed_at: toTimestamp(consumed_at),
  }));
  const consumedBy = [...new Set(consumptions.map(({ consumer }) => consumer))];
  return `,"consumptions":${JSON.stringify(shown)},"consumed_by":${JSON.stringify(consumedBy)}`;
}

const findConsumptions = preparedWithList<object, number, ConsumptionRow>((db, _place, seqs) =>
  db
    .selectFrom('consumptions')
    .selectAll()
    .where('artifact_seq', 'in', seqs)
    .orderBy('artifact_seq')
    .orderBy('consumed_at')
    .orderBy('execution_id'),
);
