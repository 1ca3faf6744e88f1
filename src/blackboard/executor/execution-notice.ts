import { toTimestamp } from '../../common/timestamp.js';
import type { Notice } from '../../signals/notice.js';
import type { ClaimedExecution } from './claims.js';

type ExecutionNotice = Extract<Notice, { attempt: number }>;

/** `now`: epoch ms. */
export const executionNotice = (
  event_type: ExecutionNotice['event_type'],
  { id, agent, attempt, correlationId }: Pick<ClaimedExecution, 'id' | 'agent' | 'attempt' | 'correlationId'>,
  now: number,
  more: Pick<ExecutionNotice, 'error_type' | 'retry_at'> = {},
): ExecutionNotice => ({ event_type, execution_id: id, agent, attempt, correlation_id: correlationId, ...more, timestamp: toTimestamp(now) });
