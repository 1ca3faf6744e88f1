// Runs the built program as a child process on SQLite files, under a umask that lets every user read and write.
import {
  chmodSync,
  closeSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { Folder } from './run-program.js';

const folder = new Folder();
const services: Service[] = [];

beforeAll(async () => void (await builtProgram()));
afterEach(async () => void (await Promise.all(services.splice(0).map((service) => service.kill()))));
afterAll(() => folder.remove());

const UMASK_0 = ['sh', '-c', 'umask 0; exec "$@"', 'sh'];

async function start(database: string): Promise<Service> {
  const config = folder.write('starling.yaml', 'types: { Order: {} }\n');
  const service = await Service.start(['--config', config, '--database-url', `sqlite:${database}`], {}, UMASK_0);
  services.push(service);
  return service;
}

const publish = (service: Service): Promise<Response> =>
  fetch(`${service.url}/api/v1/artifacts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"type": "Order", "payload": {}}',
  });

const modeOf = (file: string): string => (statSync(file).mode & 0o7777).toString(8);
const BESIDE = ['', '-wal', '-shm', '.lock', '.lock-journal', '.key'];
const modesOf = (database: string): string[] => BESIDE.map((end) => modeOf(database + end));
const PRIVATE = Array(BESIDE.length).fill('600');

const warningsOf = (service: Service): string[] =>
  service.log
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: string; msg: string })
    .filter(({ level }) => level === 'warn')
    .map(({ msg }) => msg);

/** A folder that exists before the start. */
function existing(name: string, mode: number): string {
  const path = join(folder.path, name);
  mkdirSync(path);
  chmodSync(path, mode);
  return path;
}

it('creates the database, the files beside it and the folders closed to other users', async () => {
  const database = join(existing('mine', 0o755), 'made/below/starling.db');
  const service = await start(database);
  expect((await publish(service)).status).toBe(200);
  expect(modesOf(database)).toEqual(PRIVATE);
  expect([dirname(database), dirname(dirname(database)), join(folder.path, 'mine')].map(modeOf)).toEqual([
    '700',
    '700',
    '755',
  ]);
  expect(warningsOf(service)).toEqual([]);
});

it('creates them closed if a link names a database that does not exist yet', async () => {
  const elsewhere = existing('elsewhere', 0o755);
  const database = join(existing('linked', 0o755), 'starling.db');
  symlinkSync(join(elsewhere, 'real.db'), database);
  await start(database);
  expect(['', '-wal', '-shm'].map((end) => modeOf(join(elsewhere, `real.db${end}`)))).toEqual(['600', '600', '600']);
});

it('closes files that an earlier version left open at the next start', async () => {
  const database = join(existing('old', 0o755), 'starling.db');
  const first = await start(database);
  await publish(first);
  await first.kill();
  for (const end of BESIDE) chmodSync(database + end, 0o666);
  const service = await start(database);
  expect(modesOf(database)).toEqual(PRIVATE);
  expect(warningsOf(service)).toEqual([]);
});

// Only root can create links of other users.
(process.getuid?.() === 0 ? describe : describe.skip)('a link beside the database', () => {
  const OTHER_USER = 12_345;

  /** Starts on a database beside which a link leads to a file that every user may read. */
  async function startBesideLink(name: string, owner: number): Promise<{ mode: string; warnings: string[] }> {
    const database = join(existing(name, 0o755), 'starling.db');
    const target = folder.write(`${name}-target`, `${'5'.repeat(64)}\n`);
    chmodSync(target, 0o644);
    symlinkSync(target, `${database}.key`);
    lchownSync(`${database}.key`, owner, owner);
    const service = await start(database);
    await eventually('the start is logged', () => service.log.some((line) => line.includes('"serving"')));
    return { mode: modeOf(target), warnings: warningsOf(service) };
  }

  it('that another user created is not followed, and the start warns', async () => {
    const { mode, warnings } = await startBesideLink('planted-link', OTHER_USER);
    expect(mode).toBe('644');
    expect(warnings).toEqual([expect.stringContaining('starling.db.key is a link that user 12345 made')]);
  });

  it('that the user of the process created is followed', async () => {
    const { mode, warnings } = await startBesideLink('own-link', 0);
    expect([mode, warnings]).toEqual(['600', []]);
  });
});

it.each([
  ['every user may write to', 0o777, true],
  ['every user may write to, but not delete in', 0o1777, true],
  ['other users may only read', 0o755, false],
  ['a group of the process may write to', 0o775, false],
])('a folder that %s is left unchanged, with or without a warning', async (_what, mode, isWarnedOf) => {
  const path = existing(`folder-${mode.toString(8)}`, mode);
  const service = await start(join(path, 'starling.db'));
  await eventually('the start is logged', () => service.log.some((line) => line.includes('"serving"')));
  expect(warningsOf(service)).toEqual(
    isWarnedOf
      ? [
          expect.stringContaining(
            `other users may write to ${path} and replace the database or its key; run chmod go-w on it`,
          ),
        ]
      : [],
  );
  expect(modeOf(path)).toBe(mode.toString(8));
});

describe('the key', () => {
  it('is not written through a link at the path of the new file', async () => {
    const database = join(existing('planted', 0o755), 'starling.db');
    const readable = folder.write('readable-by-all', 'untouched');
    symlinkSync(readable, `${database}.key.new`);
    await start(database);
    expect(readFileSync(readable, 'utf8')).toBe('untouched');
    expect([
      lstatSync(`${database}.key`).isSymbolicLink(),
      modeOf(`${database}.key`),
      existsSync(`${database}.key.new`),
    ]).toEqual([false, '600', false]);
    expect(readFileSync(`${database}.key`, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
  });

  it('is not written into a file that another user had opened there before', async () => {
    const database = join(existing('left-over', 0o755), 'starling.db');
    writeFileSync(`${database}.key.new`, 'half of a ke');
    chmodSync(`${database}.key.new`, 0o666);
    const opened = openSync(`${database}.key.new`, 'r');
    await start(database);
    expect([modeOf(`${database}.key`), existsSync(`${database}.key.new`)]).toEqual(['600', false]);
    expect(readFileSync(opened, 'utf8')).toBe('half of a ke');
    closeSync(opened);
  });
});
