import { execFileSync } from 'node:child_process';
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from '../support/free-port.js';

/**
 * The folders in which Linux packages install the server's programs. The server of `npm ci` has no pg_dump, and pg_dump
 * does not work with a newer server.
 */
const [PROGRAMS] = globSync('/usr/lib/postgresql/*/bin/pg_dump').sort().reverse();

export const hasInstalledPostgres = PROGRAMS !== undefined;

export interface InstalledPostgres {
  /** The URL of an empty database. */
  url(database: string): string;
  stop(): void;
}

/** Starts a server of the version of the installed pg_dump, with these databases; returns null if there is none. */
export async function startInstalledPostgres(databases: readonly string[]): Promise<InstalledPostgres | null> {
  if (PROGRAMS === undefined) return null;
  const programs = join(PROGRAMS, '..');
  const folder = mkdtempSync(join(tmpdir(), 'starling-installed-postgres-'));
  const user = serverUser();
  if (user) chownSync(folder, user.uid, user.gid);
  const run = (program: string, ...args: string[]): unknown =>
    execFileSync(join(programs, program), args, { ...user, cwd: folder, stdio: 'ignore' });
  const port = await freePort();
  run('initdb', '-D', 'data', '-U', 'starling', '-A', 'trust', '--no-sync');
  run(
    'pg_ctl',
    '-D',
    'data',
    '-w',
    '-l',
    'log',
    '-o',
    `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off`,
    'start',
  );
  for (const database of databases) run('createdb', '-h', '127.0.0.1', '-p', String(port), '-U', 'starling', database);
  return {
    url: (database) => `postgres://starling@127.0.0.1:${port}/${database}`,
    stop: () => {
      run('pg_ctl', '-D', 'data', '-m', 'immediate', 'stop');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A server refuses to run as root. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
