import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { build, DASHBOARD, isStale, PROGRAM, type Target } from '../../scripts/build-changed.js';
import { eventually } from './eventually.js';

const ROOT = resolve(import.meta.dirname, '../..');
const LOCK = join(ROOT, '.tmp/build.lock');
/** Node's compile cache of the program, which saves a sixth of each start. */
const COMPILED = join(ROOT, '.tmp/compiled');

/** Returns the path of the program that `node` runs, built from the current sources; parallel test files build once. */
export async function builtProgram(): Promise<string> {
  await current(PROGRAM);
  return join(ROOT, 'bin/starling.js');
}

/** Builds the web app from the current sources, for an application in the process of a test. */
export async function builtDashboard(): Promise<string> {
  await current(DASHBOARD);
  return join(ROOT, 'dist/dashboard');
}

/** Runs the script of `target` if its sources are newer than what was built of them. */
async function current(target: Target): Promise<void> {
  if (isStale(target)) await alone(() => isStale(target) && buildQuietly(target));
}

/** Returns the environment for the program, without these tests' own variables. */
export const PROGRAM_ENVIRONMENT: NodeJS.ProcessEnv = { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILED };

function buildQuietly(target: Target): void {
  try {
    build(target, 'pipe');
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`npm run ${target.script} fails:\n${stdout}\n${stderr}`);
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
