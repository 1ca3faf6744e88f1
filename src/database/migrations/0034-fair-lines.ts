import { type Kysely, sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/**
 * Keys take turns among the executions of an agent that wait for one limit, too. Such a line has its own rows in
 * `fair_keys` and `fair_agents`. The index has a condition and a column that no other index fits: with another one, a look
 * would read all that wait for the limit, or all of a key.
 */
export const fairLines: NumberedMigration = {
  name: '0034-fair-lines',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await db.schema.dropIndex('executions_fair_delayed').execute();
    await db.schema
      .createIndex('executions_fair_delayed')
      .on('executions')
      .expression(sql`agent, fair_key, coalesce(blocked_on, ''), priority desc, background, seq`)
      .where(sql<boolean>`case when state = 'pending' and available_at is not null then fair_key end is not null`)
      .execute();
    await sql
      .raw(
        `insert into fair_keys (agent, fair_key, turn, weight)
        select line, fair_key, 1 / max(fair_weight), max(fair_weight)
        from (select ${lineName('executions')} as line, fair_key, fair_weight from executions where ${waits('executions')}) as waiting
        group by line, fair_key`,
      )
      .execute(db);
    await (dialect.name === 'sqlite' ? onSqlite(db) : onPostgres(db));
  },
};

// The separator is a tab, which no name of an agent has.
const lineName = (row: string): string => `${row}.agent || '\t' || ${row}.blocked_on`;

/** Executions that wait for their turn of `singleton` have no line: they go by priority and age. */
const waits = (row: string): string =>
  `${row}.fair_key is not null and ${row}.blocked_on is not null and ${row}.singleton_waits = 0 and ${row}.state = 'pending'`;

const insert = (line: string): string => `insert into fair_keys (agent, fair_key, turn, weight)
  values (
    ${line},
    new.fair_key,
    coalesce((select virtual_time from fair_agents where agent = ${line}), 0) + 1 / new.fair_weight,
    new.fair_weight
  );`;

const EVENTS = { insert: 'insert', update: 'update of state, blocked_on, fair_key' };

async function onSqlite(db: Kysely<unknown>): Promise<void> {
  const line = lineName('new');
  const isNew = `not exists (select 1 from fair_keys where agent = ${line} and fair_key = new.fair_key)`;
  for (const [name, event] of Object.entries(EVENTS))
    await sql
      .raw(
        `create trigger executions_fair_line_${name} after ${event} on executions when ${waits('new')} and ${isNew} begin
        ${insert(line)}
        end`,
      )
      .execute(db);
}

/** The locks let other transactions change the turns of the line, but not delete what this one has read. */
async function onPostgres(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create function keep_fair_line() returns trigger language plpgsql as $$
      declare
        line text := ${lineName('new')};
      begin
        perform 1 from fair_keys where agent = line and fair_key = new.fair_key for key share;
        if not found then
          perform 1 from fair_agents where agent = line for key share;
          ${insert('line')}
        end if;
        return null;
      end $$`,
    )
    .execute(db);
  for (const [name, event] of Object.entries(EVENTS))
    await sql
      .raw(
        `create trigger executions_fair_line_${name} after ${event} on executions for each row when (${waits('new')})
        execute function keep_fair_line()`,
      )
      .execute(db);
}
