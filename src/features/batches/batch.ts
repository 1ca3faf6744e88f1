import type { Selectable } from 'kysely';

import { DomainError } from '../../common/domain-error.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { BatchesTable } from '../../database/schema.js';
import { usageField } from '../../http/dto/usage-body.js';
import type { BatchBody } from './dto/batch-body.js';
import type { ListedBatchBody } from './dto/batch-list.js';

export type BatchRow = Selectable<BatchesTable>;

export const batchNotFound = (id: string): DomainError => new DomainError('not_found', `Batch not found: ${id}`);

/** Failed runs of an earlier round are not shown while the batch is running, because their items run again. */
export const shownRound = ({ status, round }: BatchRow): number => (status === 'running' ? round : 0);

/** Returns the BatchBody without its results. Fields without a value yet are absent. */
export const batchBody = (batch: BatchRow, waitingFor: string[] = []): BatchBody => ({
  ...progressOf(batch),
  results: [],
  ...endOf(batch),
  ...(waitingFor.length > 0 && { waiting_for_agents: waitingFor }),
});

export const listedBatchBody = (batch: BatchRow): ListedBatchBody => ({
  ...progressOf(batch),
  agent_name: batch.agent,
  created_at: toTimestamp(batch.created_at),
  ...endOf(batch),
});

/**
 * Returns `starting` until the first run has started. Batches in the states `importing` and `removed` are never shown.
 */
const statusOf = ({ status, started_at }: BatchRow): BatchBody['status'] =>
  status === 'importing' || status === 'removed' || (status === 'running' && started_at === null) ? 'starting' : status;

function progressOf(batch: BatchRow): Omit<BatchBody, 'results'> {
  const completed = batch.succeeded_items + batch.failed_items;
  return {
    batch_id: batch.id,
    status: statusOf(batch),
    total_items: batch.total_items,
    completed_items: completed,
    failed_items: batch.failed_items,
    progress_percentage: Math.floor((10_000 * completed) / Math.max(batch.total_items, 1)) / 100,
  };
}

const endOf = (batch: BatchRow) => ({
  ...timesOf(batch),
  ...usageField(batch),
});

const timesOf = ({ started_at, ended_at, error }: BatchRow) => ({
  ...(started_at !== null && { started_at: toTimestamp(started_at) }),
  ...(ended_at !== null && { completed_at: toTimestamp(ended_at) }),
  ...(error !== null && { error }),
});
