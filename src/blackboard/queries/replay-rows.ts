import { prepared } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { ArtifactFilter } from './artifact-filter.js';

/**
 * Drops the condition that leaves replays out if there is no replay: indexes alone can then answer what would otherwise
 * read each artifact.
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
