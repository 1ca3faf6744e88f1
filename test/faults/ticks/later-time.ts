import { join } from 'node:path';

import { changeStored } from '../change-stored.js';

/** Processes on Postgres have the time of the database. */
const AHEAD = `
  create table ahead (ms bigint not null);
  insert into ahead values (0);
  create function public.clock_timestamp() returns timestamptz language sql volatile
    as 'select pg_catalog.clock_timestamp() + ms * interval ''1 ms'' from public.ahead';
  do $$ begin execute format('alter database %I set search_path = public, pg_catalog', current_database()); end $$;`;

/** The time of a service, which passes without it when no process runs. */
export class LaterTime {
  private ms = 0;

  /** The database's time. Call it before a process has started. */
  async prepare(url: string): Promise<void> {
    if (TEST_DATABASE === 'postgres') await changeStored(url, AHEAD);
  }

  get now(): number {
    return Date.now() + this.ms;
  }

  /** Call it while no process runs. */
  async pass(url: string, ms: number): Promise<void> {
    this.ms += ms;
    if (TEST_DATABASE === 'postgres') await changeStored(url, `update ahead set ms = ${this.ms}`);
  }

  /** The variables of a process. */
  readonly environment = (): Record<string, string> =>
    TEST_DATABASE === 'postgres'
      ? {}
      : { LATER_BY_MS: String(this.ms), NODE_OPTIONS: `--import=${join(import.meta.dirname, 'later-time.js')}` };
}
