import type { Rows } from '../support/database.js';

/**
 * A change of an execution, of the values of a limit, of a breaker, of a pause or of the processes, as the database noted it in
 * the transaction itself. A transaction that frees a share commits before another one counts it as free, and both hold a lock on the limit
 * while they start executions or change its values. So the entries are in the order in which they count. Only an execution
 * that starts while a breaker opens may come after it.
 */
export interface Logged {
  seq: number;
  /** The time of the database (epoch ms). */
  at: number;
  /** The limit whose values have changed, or null. */
  limit_name: string | null;
  /** The values that a client has set. Null if those of the configuration hold again. */
  options: string | null;
  /** A process that has registered or left. */
  process: string | null;
  /** The digest of its configuration. Null if it has left. */
  configuration: string | null;
  /** The breaker that has opened, closed or let an attempt decide again. */
  breaker_key: string | null;
  /** Until then nothing starts (epoch ms). Null if it is closed. */
  open_until: number | null;
  /** The agent that was paused or resumed. */
  paused_agent: string | null;
  /** 1 if it was paused. */
  is_paused: number | null;
  execution: string | null;
  correlation_id: string | null;
  state: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled' | null;
  /** Null if a pending execution may start as far as its retries decide it. */
  retry_at: number | null;
  /** The limit or the turn for which a pending execution waits, as in `executions.blocked_on`. */
  blocked_on: string | null;
  lease_token: string | null;
  /** The process that runs it. Null if none does, or if a client has claimed it. */
  lease_owner: string | null;
  /** The time by which the rate counts the start, or at which values of a limit were set (epoch ms). */
  started_at: number | null;
  /** Its limits and breakers with their keys, as in `executions.limit_keys`. */
  limit_keys: string | null;
  fair_key: string | null;
}

const COLUMNS =
  'at, execution, correlation_id, state, retry_at, blocked_on, lease_token, lease_owner, started_at, limit_keys, fair_key';

/** An execution that waits for a limit has an `available_at` beyond every time. */
const valuesOf = (now: string): string =>
  `${now}, new.id, new.correlation_id, new.state, case when new.blocked_on is null then new.available_at end, new.blocked_on, new.lease_token, new.lease_owner, new.attempt_started_at, new.limit_keys, new.fair_key`;

const onPostgres = `
  create table execution_log (
    seq bigserial, at double precision, limit_name text, options text, process text, configuration text, breaker_key text,
    open_until bigint, paused_agent text, is_paused integer, execution text, correlation_id text, state text,
    retry_at bigint, blocked_on text, lease_token text, lease_owner text, started_at bigint, limit_keys text, fair_key text);
  insert into execution_log (at, process, configuration)
    select extract(epoch from clock_timestamp()) * 1000, id, configuration from processes;
  create function log_execution() returns trigger language plpgsql as $$ begin
    insert into execution_log (${COLUMNS}) values (${valuesOf('extract(epoch from clock_timestamp()) * 1000')});
    return null;
  end $$;
  create function log_limit() returns trigger language plpgsql as $$ begin
    insert into execution_log (at, limit_name, options, started_at) values (extract(epoch from clock_timestamp()) * 1000,
      coalesce(new.name, old.name), new.options, new.set_at);
    return null;
  end $$;
  create function log_breaker() returns trigger language plpgsql as $$ begin
    insert into execution_log (at, breaker_key, open_until) values (extract(epoch from clock_timestamp()) * 1000,
      coalesce(new.breaker_key, old.breaker_key), new.open_until);
    return null;
  end $$;
  create function log_pause() returns trigger language plpgsql as $$ begin
    insert into execution_log (at, paused_agent, is_paused) values (extract(epoch from clock_timestamp()) * 1000,
      coalesce(new.agent, old.agent), case when new.agent is null then 0 else 1 end);
    return null;
  end $$;
  create function log_process() returns trigger language plpgsql as $$ begin
    insert into execution_log (at, process, configuration) values (extract(epoch from clock_timestamp()) * 1000,
      coalesce(new.id, old.id), new.configuration);
    return null;
  end $$;
  create trigger log_insert after insert on executions for each row execute function log_execution();
  create trigger log_update after update on executions for each row
    when ((old.state, old.available_at, old.lease_token) is distinct from (new.state, new.available_at, new.lease_token))
    execute function log_execution();
  create trigger log_limit after insert or update or delete on limit_values for each row execute function log_limit();
  create trigger log_breaker after insert or delete on breakers for each row execute function log_breaker();
  create trigger log_breaker_update after update on breakers for each row
    when (old.open_until is distinct from new.open_until) execute function log_breaker();
  create trigger log_pause after insert or delete on agent_pauses for each row execute function log_pause();
  create trigger log_process after insert or delete on processes for each row execute function log_process();`;

// An integer, because the size of a fraction differs: the same life would need more or fewer pages when it is simulated again.
const SQLITE_NOW = `cast(round((julianday('now') - 2440587.5) * 86400000.0) as integer)`;
const log = `insert into execution_log (${COLUMNS}) values (${valuesOf(SQLITE_NOW)})`;
const logLimit = (row: string, options: string, setAt: string): string =>
  `insert into execution_log (at, limit_name, options, started_at) values (${SQLITE_NOW}, ${row}.name, ${options}, ${setAt})`;
const logBreaker = (row: string, until: string): string =>
  `insert into execution_log (at, breaker_key, open_until) values (${SQLITE_NOW}, ${row}.breaker_key, ${until})`;
const logPause = (row: string, isPaused: number): string =>
  `insert into execution_log (at, paused_agent, is_paused) values (${SQLITE_NOW}, ${row}.agent, ${isPaused})`;

const logProcess = (row: string, configuration: string): string =>
  `insert into execution_log (at, process, configuration) values (${SQLITE_NOW}, ${row}.id, ${configuration})`;

const onSqlite = `
  create table execution_log (
    seq integer primary key autoincrement, at integer, limit_name text, options text, process text, configuration text,
    breaker_key text, open_until integer, paused_agent text, is_paused integer, execution text, correlation_id text,
    state text, retry_at integer, blocked_on text, lease_token text, lease_owner text, started_at integer, limit_keys text,
    fair_key text);
  insert into execution_log (at, process, configuration) select ${SQLITE_NOW}, id, configuration from processes;
  create trigger log_insert after insert on executions begin ${log}; end;
  create trigger log_update after update of state, available_at, lease_token on executions begin ${log}; end;
  create trigger log_limit_insert after insert on limit_values begin ${logLimit('new', 'new.options', 'new.set_at')}; end;
  create trigger log_limit_update after update on limit_values begin ${logLimit('new', 'new.options', 'new.set_at')}; end;
  create trigger log_limit_delete after delete on limit_values begin ${logLimit('old', 'null', 'null')}; end;
  create trigger log_breaker_insert after insert on breakers begin ${logBreaker('new', 'new.open_until')}; end;
  create trigger log_breaker_update after update of open_until on breakers when old.open_until is not new.open_until
    begin ${logBreaker('new', 'new.open_until')}; end;
  create trigger log_breaker_delete after delete on breakers begin ${logBreaker('old', 'null')}; end;
  create trigger log_pause_insert after insert on agent_pauses begin ${logPause('new', 1)}; end;
  create trigger log_pause_delete after delete on agent_pauses begin ${logPause('old', 0)}; end;
  create trigger log_process_insert after insert on processes begin ${logProcess('new', 'new.configuration')}; end;
  create trigger log_process_delete after delete on processes begin ${logProcess('old', 'null')}; end;`;

/** A database with this notes all changes of executions, limits, breakers, pauses and processes from then on. */
export const LOG_EXECUTIONS = TEST_DATABASE === 'postgres' ? onPostgres : onSqlite;

/** Reads the entries after a position, in their order. */
export async function readLog(rows: Rows, after = 0): Promise<Logged[]> {
  const found = await rows<Logged>(`select * from execution_log where seq > ${after} order by seq`);
  // The driver of Postgres gives large numbers as text.
  const number = (value: number | null): number | null => (value === null ? null : Number(value));
  return found.map((row) => ({
    ...row,
    seq: Number(row.seq),
    open_until: number(row.open_until),
    started_at: number(row.started_at),
  }));
}
