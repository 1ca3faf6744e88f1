import type { ArtifactSummary } from '../../blackboard/queries/artifact-summary.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { SummaryBody } from './dto/summary-body.js';

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
