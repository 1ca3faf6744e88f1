import { type Artifact, artifactFromRow, type ArtifactRow } from '../blackboard/artifact.js';
import type { ConsumptionRow } from '../blackboard/queries/artifact-store.js';
import type { ArtifactSummary } from '../blackboard/queries/artifact-summary.js';
import { toTimestamp } from '../common/timestamp.js';
import type { ListedArtifactBody } from '../http/dto/artifact-body.js';
import type { SummaryBody } from './dto/summary-body.js';

/** Artifacts with who consumed them. */
export function withConsumptions(rows: readonly ArtifactRow[], consumptions: readonly ConsumptionRow[]): ListedArtifactBody[] {
  const bySeq = Map.groupBy(consumptions, ({ artifact_seq }) => artifact_seq);
  return rows.map((row) => withMeta(artifactFromRow(row), bySeq.get(row.seq) ?? []));
}

const withMeta = (artifact: Artifact, consumptions: readonly ConsumptionRow[]): ListedArtifactBody => ({
  ...artifact,
  consumptions: consumptions.map(({ consumer, execution_id, consumed_at }) => ({
    consumer,
    run_id: execution_id,
    consumed_at: toTimestamp(consumed_at),
  })),
  consumed_by: [...new Set(consumptions.map(({ consumer }) => consumer))],
});

export const summaryBody = (summary: ArtifactSummary): SummaryBody => ({
  summary: {
    total_count: summary.total,
    by_type: summary.byType,
    by_producer: summary.byProducer,
    by_visibility: summary.byVisibility,
    by_tag: summary.byTag,
    earliest_created_at: summary.earliestCreatedAt === null ? null : toTimestamp(summary.earliestCreatedAt),
    latest_created_at: summary.latestCreatedAt === null ? null : toTimestamp(summary.latestCreatedAt),
  },
});
