// Uses the source files of the repository.
import { globSync, readFileSync } from 'node:fs';

/** Matches code that takes time, turns, random numbers or processes from the system. */
const FROM_THE_SYSTEM =
  /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bhrtime\b|\bsetTimeout\b|\bsetInterval\b|\bsetImmediate\b|\bAbortSignal\.timeout\b|\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\brandomInt\b|\bgetRandomValues\b|node:timers|node:child_process|node:worker_threads|node:vm/;

/** The files that may, by the beginnings of their paths, and the reason for each. */
const ALLOWED: Record<string, string> = {
  'src/common/scheduler.ts': 'the port itself',
  'src/common/random.ts': 'the port itself',
  'src/common/time-limit.ts': 'limits the machine time of checks of what clients send',
  'src/cli/': 'commands are other programs than the service, and wait in the time of their user',
  'src/testing/': 'a test that uses the kit runs in real time, and starts at the current time',
  'src/crypto/': 'keys and initialization vectors must never come from a replaced generator',
  'src/cel/sandbox/': 'limits the machine time of child processes; short expressions never get there',
  'src/database/dialects/database-clock.ts': 'reads the time of a Postgres server',
  'src/database/dialects/postgres-broadcast.ts': 'watches a connection to a Postgres server',
  'src/engines/function/': 'loads modules, before the service takes work',
  'src/http/end-connections.ts': 'closes sockets',
  'src/http/errors/protocol-errors.ts': 'closes sockets',
  'src/observability/logging/create-logger.ts': 'an exit waits a second for the last lines',
  'src/observability/tracing/open-telemetry.ts': 'spans have the machine time, and the last export a limit',
};

const COMMENTS = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;

const takesFromTheSystem = (file: string): boolean =>
  FROM_THE_SYSTEM.test(readFileSync(file, 'utf8').replaceAll(COMMENTS, ''));

describe('time, turns and random numbers', () => {
  const found = globSync('src/**/*.ts').filter(takesFromTheSystem).sort();
  const isAllowedBy = (file: string, path: string): boolean => file.startsWith(path);

  it('come from the ports in src/common/scheduler.ts and src/common/random.ts', () => {
    expect(found.filter((file) => !Object.keys(ALLOWED).some((path) => isAllowedBy(file, path)))).toEqual([]);
  });

  it('have exceptions only for files that need one', () => {
    expect(Object.keys(ALLOWED).filter((path) => !found.some((file) => isAllowedBy(file, path)))).toEqual([]);
  });
});
