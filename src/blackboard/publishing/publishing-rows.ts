import type { Selectable } from 'kysely';

import type { ExecutionsTable } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { Published } from './publication.js';

/** Returns the artifact that an earlier request with the same idempotency key has published. */
export async function findPublished(reader: Reader, artifactId: string): Promise<Published> {
  const row = await reader
    .selectFrom('artifacts')
    .innerJoin('correlations', 'correlations.id', 'artifacts.correlation_id')
    .select(['artifacts.seq', 'artifacts.correlation_id', 'correlations.generation'])
    .where('artifacts.id', '=', artifactId)
    .executeTakeFirstOrThrow();
  return { artifactId, correlationId: row.correlation_id, seq: row.seq, generation: row.generation, isRepeated: true };
}

export const findExecutionState = (
  reader: Reader,
  id: string,
): Promise<Pick<Selectable<ExecutionsTable>, 'state' | 'error_message' | 'skipped_for' | 'cancelled_by'>> =>
  reader
    .selectFrom('executions')
    .select(['state', 'error_message', 'skipped_for', 'cancelled_by'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
