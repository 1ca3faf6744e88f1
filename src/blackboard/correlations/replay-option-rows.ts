import type { Overrides } from '../../catalog/overrides.js';
import { preparedWithList } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';
import { overridesIn } from './replay-options.js';

/** Returns what these replays override, by their ids. Those that override nothing are left out. */
export async function findOverrides(db: Reader, ids: readonly string[]): Promise<Map<string, Overrides>> {
  const rows = await findReplayOptions(db, {}, [...new Set(ids)]);
  return new Map(rows.map(({ id, replay_options }) => [id, overridesIn(replay_options)!]));
}

const findReplayOptions = preparedWithList<object, string, { id: string; replay_options: string | null }>(
  (db, _place, ids) =>
    db
      .selectFrom('correlations')
      .select(['id', 'replay_options'])
      .where('id', 'in', ids)
      .where('replay_options', 'is not', null),
);
