import { sql } from 'kysely';

import { places, prepared, preparedWithList } from '../../database/prepared.js';
import type { BreakersTable } from '../../database/schema/execution-tables.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

/** A breaker that is open or half-open. */
export interface OpenBreakerRow {
  breaker_key: string;
  open_until: number;
  opened_at: number | null;
}

/** Finds those of the keys whose breaker is open or half-open. */
export const findOpenAmong = preparedWithList<object, string, OpenBreakerRow>((db, _place, keys) =>
  db
    .selectFrom('breakers')
    .select(['breaker_key', 'open_until', 'opened_at'])
    .where('breaker_key', 'in', keys)
    .where('open_until', 'is not', null)
    .$narrowType<{ open_until: number }>(),
);

/** Counts the breakers of each agent that are open or half-open. */
export const countOpen = (db: Reader): Promise<{ agent: string; count: number }[]> =>
  db
    .selectFrom('breakers')
    .select(['agent', ({ fn }) => fn.countAll<number>().as('count')])
    .where('open_until', 'is not', null)
    .where('variant', 'is', null)
    .groupBy('agent')
    .execute();

/** Reads and locks the breaker of a key. Makes a closed one if there is none. */
export const holdOrMake = prepared<BreakersTable, BreakersTable>((db, place) =>
  db
    .insertInto('breakers')
    .values(places(place, ['breaker_key', 'agent', 'variant', 'outcomes', 'open_until', 'opened_at', 'forget_at']))
    // Changes nothing, but locks the row until the transaction ends and returns it.
    .onConflict((conflict) =>
      conflict.column('breaker_key').doUpdateSet({ breaker_key: (eb) => eb.ref('excluded.breaker_key') }),
    )
    .returningAll(),
);

/** Reads and locks the breaker of a key. No row if no attempt has failed lately. */
export const holdIfMade = prepared<Pick<BreakersTable, 'breaker_key'>, BreakersTable>((db, place) =>
  db
    .updateTable('breakers')
    .set({ breaker_key: sql.ref<string>('breaker_key') })
    .where('breaker_key', '=', place('breaker_key'))
    .returningAll(),
);

export const saveBreaker = prepared<Omit<BreakersTable, 'agent' | 'variant'>, unknown>((db, place) =>
  db
    .updateTable('breakers')
    .set(places(place, ['outcomes', 'open_until', 'opened_at', 'forget_at']))
    .where('breaker_key', '=', place('breaker_key')),
);

/** Lets the breaker be open until an earlier time, unless it has changed meanwhile. */
export const shortenBreaker = prepared<OpenBreakerRow, unknown>((db, place) =>
  db
    .updateTable('breakers')
    .set({ open_until: place('open_until') })
    .where('breaker_key', '=', place('breaker_key'))
    .where('open_until', '>', place('open_until')),
);

export const deleteBreaker = prepared<Pick<BreakersTable, 'breaker_key'>, unknown>((db, place) =>
  db.deleteFrom('breakers').where('breaker_key', '=', place('breaker_key')),
);

/** Deletes breakers for which no attempt has ended for long. */
export async function deleteForgotten({ db }: Transaction, now: number): Promise<void> {
  await db.deleteFrom('breakers').where('forget_at', '<=', now).execute();
}
