import { prepared } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { ArtifactFilter } from './artifact-filter.js';

/**
 * Removes the condition on replays from the filter while no replay is stored. Queries can then use indexes alone
 * instead of reading each artifact.
 */
export async function withoutNeedlessCondition(db: Reader, filter: ArtifactFilter): Promise<ArtifactFilter> {
  if (filter.replays || (await findReplayed(db, {})).length > 0) return filter;
  return { ...filter, replays: true };
}

const findReplayed = prepared<object, { seq: number }>((db) =>
  db
    .selectFrom('artifacts')
    .select('seq')
    .where(({ eb, lit }) => eb('replay', '=', lit(1)))
    .limit(1),
);
