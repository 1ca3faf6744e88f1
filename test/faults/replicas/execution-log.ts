import type { Execution } from '../../history/entry.js';
import type { Rows } from '../../support/database.js';
import type { HistoryRecorder } from './history-recorder.js';

/**
 * Makes Postgres note, in the transaction itself and with its own clock, whenever an execution begins to run or stops.
 * A transaction that frees a place of an agent commits before another one counts that place as free, so these times
 * compare exactly. The times in the rows come from the processes, whose clocks differ by some milliseconds.
 */
export const LOG_EXECUTIONS = `
  create table execution_log (
    seq bigserial, at double precision not null, id text not null, agent text not null, correlation_id text not null,
    state text not null, lease_token text);
  create function log_execution() returns trigger language plpgsql as $$
    begin
      insert into execution_log (at, id, agent, correlation_id, state, lease_token)
        values (extract(epoch from clock_timestamp()) * 1000, new.id, new.agent, new.correlation_id, new.state, new.lease_token);
      return null;
    end $$;
  create trigger log_insert after insert on executions for each row
    when (new.state in ('running', 'completed')) execute function log_execution();
  create trigger log_update after update on executions for each row
    when (old.state is distinct from new.state or old.lease_token is distinct from new.lease_token)
    execute function log_execution();`;

interface Logged {
  at: number;
  id: string;
  agent: string;
  request: string;
  state: string;
  lease_token: string | null;
}

/** Adds every time that an execution ran. `named` is a query for correlations with the names of their requests. */
export async function addExecutions(rows: Rows, named: string, recorder: HistoryRecorder): Promise<void> {
  const log = await rows<Logged>(
    `select l.*, c.request from execution_log l join (${named}) c on c.id = l.correlation_id order by l.seq`,
  );
  for (const [, changes] of Map.groupBy(log, ({ id }) => id))
    for (const [index, begun] of changes.entries())
      if (begun.state === 'running') addRun(begun, changes[index + 1], recorder);
      else if (index === 0 && begun.state === 'completed') addInlineRun(begun, recorder);
}

/** It has run before the transaction that has added it, and takes no place of its agent. */
function addInlineRun({ at, id, agent, request, state }: Logged, recorder: HistoryRecorder): void {
  const asked: Execution = { agent, request };
  recorder.add('execute', id, { begin: at, end: at }, asked, { type: 'ok', answer: { state } });
}

function addRun({ at, id, agent, request }: Logged, next: Logged | undefined, recorder: HistoryRecorder): void {
  const asked: Execution = { agent, request };
  if (!next) return recorder.add('execute', id, { begin: at, end: at }, asked, { type: 'info' });
  // It runs under a new lease: the outcome of the lost one can no longer be committed.
  const state = next.state === 'running' ? 'lost' : next.state;
  const type = state === 'completed' ? 'ok' : 'fail';
  recorder.add('execute', id, { begin: at, end: next.at }, asked, { type, answer: { state } });
}
