import { sql, type SqlBool } from 'kysely';

import type { Reader } from '../../database/unit-of-work.js';

/** Releases are ordered by time. */
export interface ReleasePosition {
  due_at: number;
  /** The timer's id. */
  id: string;
}

/** The release of a hidden artifact. */
export interface Release extends ReleasePosition {
  artifact_id: string;
  artifact_type: string;
  created_at: number;
}

/** Finds the first releases of a correlation's artifacts after a position, in order of time. */
export const findReleases = (
  db: Reader,
  correlationId: string,
  after: ReleasePosition | null,
  limit: number,
): Promise<Release[]> =>
  db
    .selectFrom('timers')
    .innerJoin('artifacts', (join) => join.on('artifacts.seq', '=', sql<number>`cast(timers.subject as bigint)`))
    .select([
      'timers.id',
      'timers.due_at',
      'artifacts.id as artifact_id',
      'artifacts.type as artifact_type',
      'artifacts.created_at',
    ])
    .where('timers.correlation_id', '=', correlationId)
    .$if(after !== null, (releases) => releases.where(isAfter(after!)))
    .orderBy('timers.due_at')
    .orderBy('timers.id')
    .limit(limit)
    .execute();

const isAfter = ({ due_at, id }: ReleasePosition) =>
  sql<SqlBool>`(timers.due_at, timers.id) > (cast(${due_at} as bigint), ${id})`;

export async function countReleasesOf(db: Reader, correlationId: string): Promise<number> {
  const { count } = await db
    .selectFrom('timers')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('correlation_id', '=', correlationId)
    .executeTakeFirstOrThrow();
  return count;
}
