import { prepared } from '../../database/prepared.js';
import { sharedRead } from '../../database/shared-statement.js';
import type { Transaction } from '../../database/unit-of-work.js';

export interface PauseRow {
  agent: string;
  /** Epoch ms. */
  paused_at: number;
}

/** An agent that is paused already keeps its time. Returns since when it is paused (epoch ms). */
export async function insertPause({ db }: Transaction, pause: PauseRow): Promise<number> {
  const { paused_at } = await db
    .insertInto('agent_pauses')
    .values(pause)
    .onConflict((conflict) =>
      conflict.column('agent').doUpdateSet(({ ref }) => ({ paused_at: ref('agent_pauses.paused_at') })),
    )
    .returning('paused_at')
    .executeTakeFirstOrThrow();
  return paused_at;
}

export async function deletePause({ db }: Transaction, agent: string): Promise<void> {
  await db.deleteFrom('agent_pauses').where('agent', '=', agent).execute();
}

export const findPauses = sharedRead(prepared<object, PauseRow>((db) => db.selectFrom('agent_pauses').selectAll()));
