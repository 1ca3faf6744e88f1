import type { Overrides } from '../../catalog/overrides.js';
import { preparedWithList } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';

/** The form of `correlations.replay_options`. Null if a replay overrides nothing. */
interface ReplayOptions {
  overrides: Overrides;
}

export const replayOptionsText = (overrides: Overrides | null): string | null =>
  overrides === null ? null : JSON.stringify({ overrides } satisfies ReplayOptions);

export const overridesIn = (text: string | null): Overrides | null =>
  text === null ? null : (JSON.parse(text) as ReplayOptions).overrides;

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
