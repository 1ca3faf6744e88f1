import type { ReplayChanges } from '../../catalog/overrides.js';
import { preparedWithList } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';
import { changesIn, variantsFrom } from './replay-options.js';
import type { CorrelationRow } from './tracked-correlation.js';

/** The options that decide how the agents of a replay run. */
export interface RunningReplay {
  isShadow: boolean;
  changes: ReplayChanges;
  /** The correlation whose variants it uses. */
  variantsFrom: string;
}

/** Returns the replays with these ids. */
export async function findReplays(db: Reader, ids: readonly string[]): Promise<Map<string, RunningReplay>> {
  const rows = await findReplayOptions(db, {}, [...new Set(ids)]);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        isShadow: row.replay_mode === 'shadow',
        changes: changesIn(row.replay_options),
        variantsFrom: variantsFrom(row),
      },
    ]),
  );
}

const findReplayOptions = preparedWithList<
  object,
  string,
  Pick<CorrelationRow, 'id' | 'origin' | 'replay_mode' | 'replay_options'>
>((db, _place, ids) =>
  db.selectFrom('correlations').select(['id', 'origin', 'replay_mode', 'replay_options']).where('id', 'in', ids),
);
