import { type Kysely, sql } from 'kysely';

import type { NumberedMigration } from './migration.js';
import { prepareForChurn, primaryKey, required } from './table-parts.js';

/**
 * Stores the virtual time of each agent with `fair_by`: the turn of its last start. A new key begins one turn after it.
 * Keys began one turn after the first waiting key before, but on Postgres transactions that add keys at the same time do
 * not see each other's rows.
 */
export const virtualTime: NumberedMigration = {
  name: '0032-virtual-time',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await db.schema
      .createTable('fair_agents')
      .addColumn('agent', 'text', primaryKey)
      .addColumn('virtual_time', 'double precision', required)
      .execute();
    await prepareForChurn(db, dialect, 'fair_agents');
    await sql`insert into fair_agents (agent, virtual_time) select agent, min(turn) from fair_keys group by agent`.execute(
      db,
    );
    await (dialect.name === 'sqlite' ? onSqlite(db) : onPostgres(db));
  },
};

const INSERT = `insert into fair_keys (agent, fair_key, turn, weight)
  values (
    new.agent,
    new.fair_key,
    coalesce((select virtual_time from fair_agents where agent = new.agent), 0) + 1 / new.fair_weight,
    new.fair_weight
  );`;

const READY = `new.fair_key is not null and new.state = 'pending' and new.available_at is null`;
const IS_NEW = 'not exists (select 1 from fair_keys where agent = new.agent and fair_key = new.fair_key)';
const EVENTS = { insert: 'insert', update: 'update of state, available_at, fair_key' };

async function onSqlite(db: Kysely<unknown>): Promise<void> {
  for (const [name, event] of Object.entries(EVENTS)) {
    await sql.raw(`drop trigger executions_fair_${name}`).execute(db);
    await sql
      .raw(
        `create trigger executions_fair_${name} after ${event} on executions when ${READY} and ${IS_NEW} begin
        ${INSERT}
        end`,
      )
      .execute(db);
  }
}

async function onPostgres(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create or replace function keep_fair_key() returns trigger language plpgsql as $$
      begin
        perform 1 from fair_keys where agent = new.agent and fair_key = new.fair_key for key share;
        if not found then
          ${INSERT}
        end if;
        return null;
      end $$`,
    )
    .execute(db);
}
