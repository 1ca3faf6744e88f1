import { type Kysely, sql, type SqlBool } from 'kysely';

import { LINE, virtualTimeOf, WAIT_IN_LINE, WAITS } from './0039-turns-between-lines.js';
import type { NumberedMigration } from './migration.js';

/**
 * A limit takes back what it has let go and what has not started. The index finds these executions. Their key may have no row
 * any more. It gets the turn that it had, or keys with the same turn would come first each time.
 */
export const takenBackExecutions: NumberedMigration = {
  name: '0040-taken-back-executions',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await db.schema
      .createIndex('executions_released')
      .on('executions')
      .columns(['agent', 'counted_in'])
      .where(sql<SqlBool>`counted_in is not null`)
      .execute();
    await (dialect.name === 'sqlite' ? onSqlite(db) : onPostgres(db));
  },
};

const INSERT = `insert into fair_keys (agent, fair_key, turn, weight)
  values (${LINE}, new.fair_key,
    ${virtualTimeOf(LINE)} + case when old.counted_in = new.blocked_on then -1 / new.fair_weight else ${WAIT_IN_LINE} end,
    new.fair_weight);`;

async function onSqlite(db: Kysely<unknown>): Promise<void> {
  const isNew = `not exists (select 1 from fair_keys where agent = ${LINE} and fair_key = new.fair_key)`;
  await sql`drop trigger executions_fair_line_update`.execute(db);
  await sql
    .raw(
      `create trigger executions_fair_line_update after update of state, blocked_on, fair_key on executions
      when ${WAITS} and ${isNew} begin
        ${INSERT}
      end`,
    )
    .execute(db);
}

// In the trigger of an insert, `old` is null.
async function onPostgres(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create or replace function keep_fair_line() returns trigger language plpgsql as $$
      declare
        line text := ${LINE};
      begin
        perform 1 from fair_keys where agent = line and fair_key = new.fair_key for key share;
        if not found then
          perform 1 from fair_agents where agent = line for key share;
          ${INSERT}
        end if;
        return null;
      end $$`,
    )
    .execute(db);
}
