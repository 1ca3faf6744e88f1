import type { Selectable } from 'kysely';

import { prepared } from '../../database/prepared.js';
import type { CachedAnswersTable } from '../../database/schema.js';

export type CachedAnswerRow = Selectable<CachedAnswersTable>;

export const findCachedAnswer = prepared<
  { key: string; now: number },
  Pick<CachedAnswerRow, 'answer' | 'execution_id'>
>((db, place) =>
  db
    .selectFrom('cached_answers')
    .select(['answer', 'execution_id'])
    .where('key', '=', place('key'))
    .where('expires_at', '>', place('now')),
);

/** Stores an answer, in place of an earlier one with the same key. */
export const storeCachedAnswer = prepared<CachedAnswerRow, never>((db, place) =>
  db
    .insertInto('cached_answers')
    .values({
      key: place('key'),
      answer: place('answer'),
      execution_id: place('execution_id'),
      expires_at: place('expires_at'),
    })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet(({ ref }) => ({
        answer: ref('excluded.answer'),
        execution_id: ref('excluded.execution_id'),
        expires_at: ref('excluded.expires_at'),
      })),
    ),
);

export const setCachedFrom = prepared<{ id: string; cached_from: string }, never>((db, place) =>
  db
    .updateTable('executions')
    .set({ cached_from: place('cached_from') })
    .where('id', '=', place('id')),
);
