import { type Kysely, sql } from 'kysely';

import type { NumberedMigration } from './migration.js';
import { positionedTable, prepareForChurn, required } from './table-parts.js';

/**
 * The keys by which executions take turns, and the keys that have executions which may start. Triggers keep the latter,
 * because executions become ready in many places, and one without its key would never be claimed. On Postgres,
 * transactions that add the same new key at the same time each insert a row: with a unique index they would wait for
 * each other's commit, and those that add several keys in different orders would deadlock.
 */
export const fairness: NumberedMigration = {
  name: '0017-fairness',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await db.schema.alterTable('executions').addColumn('fair_key', 'text').execute();
    await db.schema.alterTable('executions').addColumn('fair_weight', 'double precision').execute();
    await positionedTable(db, dialect, 'fair_keys')
      .addColumn('agent', 'text', required)
      .addColumn('fair_key', 'text', required)
      .addColumn('turn', 'double precision', required)
      .addColumn('weight', 'double precision', required)
      .execute();
    await prepareForChurn(db, dialect, 'fair_keys');
    await db.schema.createIndex('fair_keys_key').on('fair_keys').columns(['agent', 'fair_key']).execute();
    await db.schema.createIndex('fair_keys_turn').on('fair_keys').columns(['agent', 'turn', 'fair_key']).execute();
    await db.schema
      .createIndex('executions_fair')
      .on('executions')
      .columns(['agent', 'fair_key', 'priority desc', 'background', 'seq'])
      .where(sql<boolean>`state = 'pending' and available_at is null and fair_key is not null`)
      .execute();
    await db.schema
      .createIndex('executions_fair_delayed')
      .on('executions')
      .columns(['agent', 'fair_key'])
      .where(sql<boolean>`state = 'pending' and available_at is not null and fair_key is not null`)
      .execute();
    await (dialect.name === 'sqlite' ? onSqlite(db) : onPostgres(db));
  },
};

const READY = `new.fair_key is not null and new.state = 'pending' and new.available_at is null`;

/** A new key has its first turn one turn after the one that comes next. */
const INSERT = `insert into fair_keys (agent, fair_key, turn, weight)
  values (
    new.agent,
    new.fair_key,
    coalesce((select min(turn) from fair_keys where agent = new.agent), 0) + 1 / new.fair_weight,
    new.fair_weight
  );`;

const IS_NEW = 'not exists (select 1 from fair_keys where agent = new.agent and fair_key = new.fair_key)';

const EVENTS = { insert: 'insert', update: 'update of state, available_at, fair_key' };

async function onSqlite(db: Kysely<unknown>): Promise<void> {
  for (const [name, event] of Object.entries(EVENTS))
    await sql
      .raw(
        `create trigger executions_fair_${name} after ${event} on executions when ${READY} and ${IS_NEW} begin
        ${INSERT}
        end`,
      )
      .execute(db);
}

/** The lock lets other transactions add executions of the key and change its turn, but not delete it. */
async function onPostgres(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create function keep_fair_key() returns trigger language plpgsql as $$
      begin
        perform 1 from fair_keys where agent = new.agent and fair_key = new.fair_key for key share;
        if not found then
          ${INSERT}
        end if;
        return null;
      end $$`,
    )
    .execute(db);
  for (const [name, event] of Object.entries(EVENTS))
    await sql
      .raw(
        `create trigger executions_fair_${name} after ${event} on executions for each row when (${READY})
        execute function keep_fair_key()`,
      )
      .execute(db);
}
