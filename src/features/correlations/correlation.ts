import { countsOf, isReplay } from '../../blackboard/correlations/tracked-correlation.js';
import { toTimestamp } from '../../common/timestamp.js';
import { usageField } from '../../http/dto/usage-body.js';
import type { CorrelationRow } from './correlations.repository.js';
import type { ListedCorrelationBody } from './dto/correlation-list.js';

type StoredStatus = Omit<ListedCorrelationBody, 'pending_count' | 'settled_at' | 'duration_ms'>;

/** `lacking`: the agents that it waits for and no process has. */
export const statusBody = (row: CorrelationRow, lacking: readonly string[]): StoredStatus => ({
  correlation_id: row.id,
  ...(isReplay(row) && { origin: row.origin!, replay_mode: row.replay_mode! }),
  state: row.state,
  has_pending_work: row.state === 'active',
  ...countsOf(row),
  started_at: toTimestamp(row.started_at),
  last_activity_at: toTimestamp(row.last_activity_at),
  ...(lacking.length > 0 && { waiting_for_agents: [...lacking] }),
  ...usageField(row),
});

export const listedCorrelationBody = (row: CorrelationRow, lacking: readonly string[]): ListedCorrelationBody => ({
  ...statusBody(row, lacking),
  pending_count: row.pending,
  settled_at: row.settled_at === null ? null : toTimestamp(row.settled_at),
  duration_ms: row.settled_at === null ? null : row.settled_at - row.started_at,
});
