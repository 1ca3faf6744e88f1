import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runProgram } from '../cli/run-program.js';
import { builtProgram } from '../support/built-program.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { describeIf } from '../support/prerequisites.js';
import { Service } from '../support/service.js';
import { breaches } from './invariants.js';
import { Ledger } from './ledger.js';

const CONFIG = new URL('./warehouse/starling.yaml', import.meta.url).pathname;
const MEBIBYTE = 2 ** 20;

/** Mounts a small separate file system; returns null if this user may not mount one. */
function mountSmallDisk(): string | null {
  if (process.getuid?.() !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), 'starling-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'starling-test', folder], { stdio: 'pipe' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    return null;
  }
}

const disk = mountSmallDisk();

/** Runs the built program as a process, with its SQLite file on a file system that is really full. */
describeIf(disk !== null, 'root and the right to mount a tmpfs')('a full disk', () => {
  let service: Service;
  const ledger = new Ledger();
  let database: TestDatabase;

  beforeAll(async () => {
    await builtProgram();
    database = await databaseOf(disk!);
    service = await Service.start(['--config', CONFIG, '--database-url', database.url, '--log-level', 'warn']);
  });

  afterAll(async () => {
    await service?.kill();
    execFileSync('umount', [disk!]);
    rmSync(disk!, { recursive: true });
  });

  it('answers 503, keeps what it acknowledged, and recovers when there is space again', async () => {
    for (let count = 0; count < 20; count += 1) expect(await ledger.send(service, ledger.next(false))).toBe(true);
    await eventually(
      'their work has finished, and nothing else grows',
      async () => (await breaches(database, ledger)).length === 0,
    );
    const { bavail, bsize } = statfsSync(disk!);
    writeFileSync(join(disk!, 'ballast'), Buffer.alloc(bavail * bsize - MEBIBYTE));

    const refused = await sendUntilRefused(service, ledger);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await refused.json()).toEqual({ detail: expect.stringContaining('disk') });
    await refusesWithoutFillingTheLog(service, ledger);
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    expect((await fetch(`${service.url}/api/v1/artifacts?limit=1`)).status).toBe(200);

    rmSync(join(disk!, 'ballast'));
    await eventually('publishing works again', () => ledger.send(service, ledger.next(false)));
    await eventually(
      'all work has finished, and nothing is lost or duplicated',
      async () => (await breaches(database, ledger)).length === 0,
    );
  });

  // Without any space, the lock cannot be taken; with space for the lock only, a new database cannot be migrated.
  it.each([0, 10])('is reported by a start in one line, with %i pages free', async (pages) => {
    await service.kill();
    const path = join(disk!, pages === 0 ? 'full.db' : 'new.db');
    writeFileSync(path, '');
    writeFileSync(`${path}.lock`, '');
    const { bavail, bsize } = statfsSync(disk!);
    writeFileSync(join(disk!, 'ballast'), Buffer.alloc((bavail - pages) * bsize));
    const { code, stderr } = await runProgram([
      'serve',
      '--port',
      '0',
      '--config',
      CONFIG,
      '--database-url',
      `sqlite:${path}`,
    ]);
    rmSync(join(disk!, 'ballast'));
    expect(
      stderr
        .trim()
        .split('\n')
        .filter((line) => !line.startsWith('{')),
    ).toEqual([`database_url: ${path}: the disk is full; free some space, and start again`]);
    expect(code).toBe(1);
  });
});

const SECONDS = 3;
const LEAST_REFUSED = 100;

/** Each refused request wrote a page before, to a disk that may be the same one. */
async function refusesWithoutFillingTheLog(service: Service, ledger: Ledger): Promise<void> {
  const from = service.log.length;
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1_000;
  let refused = 0;
  while (seconds() < SECONDS || refused <= LEAST_REFUSED) {
    // A checkpoint frees a little space in the write-ahead log, so one of them may still be stored.
    const answers = await Promise.all(Array.from({ length: 20 }, () => sendLarge(service, ledger)));
    expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
    refused += answers.filter(({ status }) => status === 503).length;
  }
  // An order that is still stored runs immediately, and the first try of its label fails.
  const lines = service.log
    .slice(from)
    .map((line) => JSON.parse(line) as { msg: string; reason?: string; err?: object })
    .filter(({ msg }) => msg !== 'execution');
  expect(lines.filter(({ err }) => err !== undefined)).toEqual([]);
  const reports = lines.filter(({ reason }) => reason?.includes('the disk is full'));
  expect(reports.length).toBeGreaterThan(0);
  // One a second, including the first of them.
  expect(reports.length).toBeLessThanOrEqual(seconds() + 2);
  expect(lines.length).toBe(reports.length);
}

const publishLarge = (service: Service, correlationId: string, n: number): Promise<Response> =>
  fetch(`${service.url}/api/v1/artifacts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-correlation-id': correlationId },
    body: JSON.stringify({ type: 'Order', payload: { n, filler: 'x'.repeat(20_000) } }),
  });

async function sendUntilRefused(service: Service, ledger: Ledger): Promise<Response> {
  for (;;) {
    const response = await sendLarge(service, ledger);
    if (response.status !== 200) return response;
  }
}

async function sendLarge(service: Service, ledger: Ledger): Promise<Response> {
  const { n, correlationId } = ledger.next(false);
  const response = await publishLarge(service, correlationId, n);
  if (response.status === 200) ledger.acknowledged.set(correlationId, { n, correlationId });
  return response;
}
