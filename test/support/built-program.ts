import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { eventually } from './eventually.js';

const ROOT = resolve(import.meta.dirname, '../..');
/** The time of its stamp is when its sources were read. */
interface Target {
  script: string;
  stamp: string;
  sources: string[];
}

const DASHBOARD: Target = {
  script: 'build:dashboard',
  stamp: join(ROOT, 'dist/.built-dashboard'),
  sources: ['dashboard', 'package.json'],
};
/** `npm run build` deletes `dist` and builds both. */
const PROGRAM: Target = {
  script: 'build',
  stamp: join(ROOT, 'dist/.built'),
  sources: ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'],
};
const LOCK = join(ROOT, '.tmp/build.lock');
/** Node's compile cache of the program, which saves a sixth of each start. */
const COMPILED = join(ROOT, '.tmp/compiled');

/** Returns the path of the program that `node` runs, built from the current sources; parallel test files build once. */
export async function builtProgram(): Promise<string> {
  await current(PROGRAM, [PROGRAM, DASHBOARD]);
  return join(ROOT, 'bin/starling.js');
}

/** Builds the web app from the current sources, for an application in the process of a test. */
export async function builtDashboard(): Promise<string> {
  await current(DASHBOARD, [DASHBOARD]);
  return join(ROOT, 'dist/dashboard');
}

/** Runs the script of `target` if its sources are newer than its stamp. `made`: what the script builds. */
async function current(target: Target, made: Target[]): Promise<void> {
  if (isStale(target)) await alone(() => isStale(target) && build(target, made));
}

/** Returns the environment for the program, without these tests' own variables. */
export const PROGRAM_ENVIRONMENT: NodeJS.ProcessEnv = { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILED };

function isStale({ stamp, sources }: Target): boolean {
  const built = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return sources.flatMap(filesOf).some((file) => statSync(join(ROOT, file)).mtimeMs > built);
}

const filesOf = (source: string): string[] =>
  statSync(join(ROOT, source)).isFile()
    ? [source]
    : readdirSync(join(ROOT, source), { recursive: true, encoding: 'utf8' }).map((file) => join(source, file));

function build({ script }: Target, made: Target[]): void {
  const began = new Date();
  try {
    execFileSync('npm', ['run', script], { cwd: ROOT, stdio: 'pipe', encoding: 'utf8' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`npm run ${script} fails:\n${stdout}\n${stderr}`);
  }
  for (const { stamp } of made) {
    writeFileSync(stamp, '');
    utimesSync(stamp, began, began);
  }
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
