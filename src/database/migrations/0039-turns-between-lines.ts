import { type Kysely, sql } from 'kysely';

import type { NumberedMigration } from './migration.js';

/**
 * A key of `fair_by` that goes from one line to another does not begin a whole wait there once more, or it could come three times
 * as late as the bound. From the queue of its agent to the line of a limit, it still has to wait as long as in the queue. When
 * the limit has released it, in its turn, it waits half a turn in the queue: without any wait, those that a limit
 * releases one after the other would always come before keys that wait only in the queue.
 */
export const turnsBetweenLines: NumberedMigration = {
  name: '0039-turns-between-lines',
  oldestProgram: '0.1.0',
  async up(db, dialect) {
    await (dialect.name === 'sqlite' ? onSqlite(db) : onPostgres(db));
  },
};

// The separator is a tab, which no name of an agent has.
export const LINE = `new.agent || '\t' || new.blocked_on`;
export const WAITS = `new.fair_key is not null and new.blocked_on is not null and new.singleton_waits = 0 and new.state = 'pending'`;
const READY = `new.fair_key is not null and new.state = 'pending' and new.available_at is null`;

export const virtualTimeOf = (line: string): string =>
  `coalesce((select virtual_time from fair_agents where agent = ${line}), 0)`;

const WAIT_IN_QUEUE = `case when new.counted_in is null then 1 else 0.5 end / new.fair_weight`;

export const WAIT_IN_LINE = `coalesce((
    select case when turn > ${virtualTimeOf('new.agent')} then turn - ${virtualTimeOf('new.agent')} else 0 end
    from fair_keys where agent = new.agent and fair_key = new.fair_key order by turn limit 1
  ), 1 / new.fair_weight)`;

const insert = (line: string, wait: string): string => `insert into fair_keys (agent, fair_key, turn, weight)
  values (${line}, new.fair_key, ${virtualTimeOf(line)} + ${wait}, new.fair_weight);`;

const TRIGGERS = [
  {
    name: 'executions_fair',
    when: READY,
    line: 'new.agent',
    wait: WAIT_IN_QUEUE,
    columns: 'state, available_at, fair_key',
  },
  { name: 'executions_fair_line', when: WAITS, line: LINE, wait: WAIT_IN_LINE, columns: 'state, blocked_on, fair_key' },
];

async function onSqlite(db: Kysely<unknown>): Promise<void> {
  for (const { name, when, line, wait, columns } of TRIGGERS) {
    const isNew = `not exists (select 1 from fair_keys where agent = ${line} and fair_key = new.fair_key)`;
    for (const [kind, event] of Object.entries({ insert: 'insert', update: `update of ${columns}` })) {
      await sql.raw(`drop trigger ${name}_${kind}`).execute(db);
      await sql
        .raw(
          `create trigger ${name}_${kind} after ${event} on executions when ${when} and ${isNew} begin
          ${insert(line, wait)}
          end`,
        )
        .execute(db);
    }
  }
}

async function onPostgres(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create or replace function keep_fair_key() returns trigger language plpgsql as $$
      begin
        perform 1 from fair_keys where agent = new.agent and fair_key = new.fair_key for key share;
        if not found then
          ${insert('new.agent', WAIT_IN_QUEUE)}
        end if;
        return null;
      end $$`,
    )
    .execute(db);
  await sql
    .raw(
      `create or replace function keep_fair_line() returns trigger language plpgsql as $$
      declare
        line text := ${LINE};
      begin
        perform 1 from fair_keys where agent = line and fair_key = new.fair_key for key share;
        if not found then
          perform 1 from fair_agents where agent = line for key share;
          ${insert('line', WAIT_IN_LINE)}
        end if;
        return null;
      end $$`,
    )
    .execute(db);
}
