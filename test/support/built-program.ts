import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { eventually } from './eventually.js';

const ROOT = resolve(import.meta.dirname, '../..');
/** Its time is when the sources of the build in `dist` were read. */
const STAMP = join(ROOT, 'dist/.built');
const LOCK = join(ROOT, '.tmp/build.lock');
/** Node's compile cache of the program, which saves a sixth of each start. */
const COMPILED = join(ROOT, '.tmp/compiled');
const CONFIGURATION = ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'];

/** Returns the path of the program that `node` runs, built from the current sources; parallel test files build once. */
export async function builtProgram(): Promise<string> {
  if (isStale()) await alone(() => isStale() && build());
  return join(ROOT, 'bin/starling.js');
}

/** Returns the environment for the program, without these tests' own variables. */
export const PROGRAM_ENVIRONMENT: NodeJS.ProcessEnv = { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILED };

function isStale(): boolean {
  const built = statSync(STAMP, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).map((file) =>
    join('src', file),
  );
  return [...sources, ...CONFIGURATION].some((file) => statSync(join(ROOT, file)).mtimeMs > built);
}

function build(): void {
  const began = new Date();
  try {
    execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: 'pipe', encoding: 'utf8' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`npm run build fails:\n${stdout}\n${stderr}`);
  }
  writeFileSync(STAMP, '');
  utimesSync(STAMP, began, began);
}

/** Lets one process run at a time; a lock whose holder has exited counts as free. */
async function alone(work: () => unknown): Promise<void> {
  mkdirSync(join(ROOT, '.tmp'), { recursive: true });
  await eventually('another test file has finished its build', takeLock, 180_000);
  try {
    work();
  } finally {
    rmSync(LOCK, { force: true });
  }
}

function takeLock(): boolean {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isRunning(holder())) rmSync(LOCK, { force: true });
    return false;
  }
}

function holder(): number {
  try {
    return Number(readFileSync(LOCK, 'utf8')) || process.pid;
  } catch {
    return process.pid;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
