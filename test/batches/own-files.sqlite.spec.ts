// Runs the built program as a process, its SQLite file and key, HTTP, and files and links on disk. Nothing is faked.
import { link, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Service } from '../support/service.js';

const CONFIG = `
agents:
  reader:
    consumes: [{ types: [Row] }]
    publishes: [{ type: Read }]
    engine: { kind: expression, expression: '{}' }
`;
const SECRET = 'TOKEN=swordfish7,hunter2\nPASSWORD=opensesame,letmein\n';

let folder: string;
const inside = (name: string): string => join(folder, name);

interface Answer {
  status: number;
  detail: string;
}

async function ask(service: Service, body: object): Promise<Answer> {
  const answer = await fetch(`${service.url}/run/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ agent_name: 'reader', ...body }),
  });
  return { status: answer.status, detail: ((await answer.json()) as { detail: string }).detail };
}

const start = (...options: string[]): Promise<Service> =>
  Service.start([
    '--config',
    inside('starling.txt'),
    '--database-url',
    `sqlite:${inside('data/starling.db')}`,
    '--log-level',
    'warn',
    ...options,
  ]);

/** The requests that a caller tries in order to get a file's content quoted in an error. */
const ATTEMPTS = [
  {},
  { row_key: 'zz' },
  { input_mapping: { zz: 'text' } },
  { input_mapping: {} },
  ...[...'7=as'].map((delimiter) => ({ delimiter, row_key: 'zz' })),
];

/** Returns the parts of `text` that an answer reveals. Five equal characters in a row are not a coincidence. */
const partsOf = (text: string, answer: string): string[] =>
  Array.from({ length: text.length - 4 }, (_, at) => text.slice(at, at + 5)).filter((part) => answer.includes(part));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'starling-own-files-'));
  for (const name of ['data/below', '.hidden', 'rows', 'rows/.git']) await mkdir(inside(name), { recursive: true });
  await writeFile(inside('starling.txt'), CONFIG);
  for (const name of [
    '.env',
    '.csv',
    '.hidden/rows.csv',
    'rows/.git/rows.csv',
    'data/rows.csv',
    'data/below/rows.csv',
    'rows/secret.pem',
  ])
    await writeFile(inside(name), SECRET);
  await writeFile(inside('rows/good.csv'), 'text\none\n');
});
afterAll(() => rm(folder, { recursive: true }));

describe('with a csv_root that contains all files', () => {
  let service: Service;
  let key: string;
  beforeAll(async () => {
    service = await start('--csv-root', folder);
    key = await readFile(inside('data/starling.db.key'), 'utf8');
    await symlink(inside('.env'), inside('rows/env.csv'));
    await symlink(inside('.hidden'), inside('rows/hidden'));
    await symlink(inside('data'), inside('rows/data'));
    await symlink(inside('data/starling.db.key'), inside('rows/key.csv'));
    await link(inside('data/starling.db.key'), inside('rows/hard-key.csv'));
    await link(inside('data/starling.db'), inside('rows/hard-database.csv'));
    await link(inside('starling.txt'), inside('rows/hard-configuration.csv'));
  });
  afterAll(() => service.kill());

  const DOT = 'leads through a name with a leading dot';
  const ENDS = 'does not end in .csv, .tsv or .txt';
  const DATABASE = 'is in the folder of the database';
  const OWN = 'is a file of the service itself';

  it.each<[what: string, path: string, reason: string]>([
    ['the key', 'data/starling.db.key', ENDS],
    ['the database', 'data/starling.db', ENDS],
    ['its log', 'data/starling.db-wal', ENDS],
    ['the environment', '.env', DOT],
    ['a name that is nothing but the ending', '.csv', DOT],
    ['a file in a folder with a dot', '.hidden/rows.csv', DOT],
    ['the same by a detour', 'rows/../.hidden/rows.csv', DOT],
    ['such a folder further down', 'rows/.git/rows.csv', DOT],
    ['the same through a link', 'rows/hidden/rows.csv', DOT],
    ['a link to the environment', 'rows/env.csv', DOT],
    ['a CSV beside the database', 'data/rows.csv', DATABASE],
    ['a CSV below the database', 'data/below/rows.csv', DATABASE],
    ['the same through a link', 'rows/data/rows.csv', DATABASE],
    ['a link to the key', 'rows/key.csv', ENDS],
    ['a hard link to the key', 'rows/hard-key.csv', OWN],
    ['a hard link to the database', 'rows/hard-database.csv', OWN],
    ['the configuration', 'starling.txt', OWN],
    ['a hard link to the configuration', 'rows/hard-configuration.csv', OWN],
    ['any other ending', 'rows/secret.pem', ENDS],
    ['an ending with a dot after it', 'rows/good.csv.', ENDS],
    ['an ending with a space after it', 'rows/good.csv ', ENDS],
    ['an ending before a NUL', 'rows/secret.pem\0.csv', 'is not a path'],
    ["the process's own environment", '/proc/self/environ', 'leads out of the csv_root'],
  ])('%s is not read, and its content is not quoted', async (_what, path, reason) => {
    for (const attempt of ATTEMPTS) {
      const { status, detail } = await ask(service, { batch_inputs: path, ...attempt });
      expect([status, partsOf(key, detail), partsOf(SECRET, detail)]).toEqual([400, [], []]);
      expect(detail).toContain(reason);
    }
  });

  it('the process survives hundreds of requests for its own files, some of which do not exist', async () => {
    for (let n = 0; n < 300; n++) expect((await ask(service, { batch_inputs: `nowhere-${n}.csv` })).status).toBe(400);
    expect(service.hasEnded).toBe(false);
  });

  it('a CSV is read', async () => {
    expect(await ask(service, { batch_inputs: 'rows/good.csv' })).toEqual({ status: 200, detail: undefined });
  });

  it('an error in a CSV gives only the place', async () => {
    await writeFile(inside('rows/bad.csv'), SECRET);
    for (const attempt of ATTEMPTS) {
      const { status, detail } = await ask(service, { batch_inputs: 'rows/bad.csv', ...attempt });
      expect([status === 200 || status === 400, partsOf(SECRET, detail ?? '')]).toEqual([true, []]);
    }
    for (const text of [
      'swordfish,swordfish\n1,2\n',
      'swordfish,"hunter2"x\n1,2\n',
      'swordfish,hunter2\n1\n',
      `${'swordfish'.repeat(100)}\n1\n`,
    ]) {
      await writeFile(inside('rows/bad.csv'), text);
      const { status, detail } = await ask(service, { batch_inputs: 'rows/bad.csv' });
      expect([status, partsOf(text, detail)]).toEqual([400, []]);
    }
  });
});

it("with the database's folder as csv_root, no file in it is read", async () => {
  const service = await start('--csv-root', inside('data'));
  const answers = [
    await ask(service, { batch_inputs: 'rows.csv' }),
    await ask(service, { batch_inputs: 'below/rows.csv' }),
  ];
  await service.kill();
  expect(answers.map(({ detail }) => detail)).toEqual(
    Array(2).fill(expect.stringContaining('is in the folder of the database')),
  );
});

it("with a folder below the database's as csv_root, its files are read", async () => {
  const service = await start('--csv-root', inside('data/below'));
  const { status } = await ask(service, { batch_inputs: 'rows.csv' });
  await service.kill();
  expect(status).toBe(200);
});

it('without csv_root, a path is refused with an alternative, and an upload is accepted', async () => {
  const service = await start();
  const { status, detail } = await ask(service, { batch_inputs: 'rows/good.csv' });
  const body = new FormData();
  body.set('request', '{"agent_name": "reader"}');
  body.set('file', new Blob(['text\none\n']), 'good.csv');
  const upload = await fetch(`${service.url}/run/batch`, { method: 'POST', body });
  await service.kill();
  expect([status, detail, upload.status]).toEqual([
    400,
    'batch_inputs: a path needs the setting csv_root, which is not set; ask the operator to set it, or upload the file as multipart/form-data',
    200,
  ]);
});
