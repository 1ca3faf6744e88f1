// Uses the application, its database and HTTP, and CSV files, links, FIFOs, devices and sockets on disk.
import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

import { ImportApp } from './import-app.js';

let taken: ImportApp;
beforeAll(async () => void (taken = await ImportApp.start()));
afterAll(() => taken.close());

const NOTHING = { batches: 0, batch_rows: 0, batch_keys: 0 };

async function refused(body: object): Promise<string> {
  const answer = await taken.app.http.post('/run/batch').send({ agent_name: 'greeter', ...body });
  expect([answer.status, Object.keys(answer.body as object)]).toEqual([400, ['detail']]);
  expect(await taken.held()).toEqual(NOTHING);
  return (answer.body as { detail: string }).detail;
}

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('');
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
const MIB = 1_024 * 1_024;
const RETURN_ALONE =
  'has a carriage return without a line feed; end lines with LF or CR LF, and put a cell with a carriage return in quotes';

describe('a CSV is refused, and nothing of it is left', () => {
  it.each<[what: string, content: string | Buffer, detail: string]>([
    ['is empty', '', 'is empty; a CSV begins with a header'],
    ['holds nothing but a byte-order mark', '\ufeff', 'is empty; a CSV begins with a header'],
    ['holds nothing but line breaks', '\n\r\n\n', 'is empty; a CSV begins with a header'],
    ['has a header only', 'a,b\n', 'has no rows below its header; a batch needs at least one'],
    ['has a row with too few fields', 'a,b\n1,2\n3\n4,5\n', 'line 3 has 1 field and the header 2'],
    ['has a row with too many fields', 'a,b\n1,2,3\n', 'line 2 has 3 fields and the header 2'],
    ['ends in a row with too few fields', 'a,b,c\n1,2,3\n1,2', 'line 3 has 2 fields and the header 3'],
    [
      'has a ragged row after one with line breaks',
      'a,b\r\n"1\r\n\r\n",2\r\n\r\n3\r\n',
      'line 6 has 1 field and the header 2',
    ],
    ['has a ragged row with line breaks', 'a,b\n1,2\n"x\ny\nz"\n', 'line 3 has 1 field and the header 2'],
    [
      'has a ragged row on line 50,000',
      `a,b\n${lines(49_998, (n) => `${n},text\n`)}1,2,3\n${lines(9_000, (n) => `${n},text\n`)}`,
      'line 50000 has 3 fields and the header 2',
    ],
    ['has the line ends of an old Mac', 'a,b\r1,2\r3,4\r', `line 1 ${RETURN_ALONE}`],
    ['has a carriage return within a plain cell', 'a,b\r\n1\r,2\r\n', `line 2 ${RETURN_ALONE}`],
    ['has one behind quoted ones', 'a,b\n"1\r""\r",2\n3,4\r5\n', `line 3 ${RETURN_ALONE}`],
    ['ends in a carriage return', 'a,b\n1,2\r', `line 2 ${RETURN_ALONE}`],
    ['has a carriage return at the end of a chunk', `a\n${'x'.repeat(16 * 1_024 - 3)}\rb\n`, `line 2 ${RETURN_ALONE}`],
    ['has a NUL', 'a,b\n1,2\n3,\0\n', 'line 3 contains a NUL character; save the file as UTF-8, without binary data'],
    [
      'has a NUL on line 50,000',
      `a,b\n${lines(49_998, (n) => `${n},text\n`)}1,\0\n`,
      'line 50000 contains a NUL character; save the file as UTF-8, without binary data',
    ],
    [
      'is UTF-16 with its mark',
      utf16('\ufeffa,b\n1,2\n'),
      'line 1 begins with the byte-order mark of UTF-16; save the file as UTF-8',
    ],
    [
      'is UTF-16, high byte first',
      utf16('\ufeffa,b\n1,2\n').swap16(),
      'line 1 begins with the byte-order mark of UTF-16; save the file as UTF-8',
    ],
    [
      'is UTF-16 without a mark',
      utf16('a,b\n1,2\n'),
      'line 1 contains a NUL character; save the file as UTF-8, without binary data',
    ],
    [
      'is Latin-1',
      Buffer.from('a,b\n1,2\ncaf\u00e9,3\n', 'latin1'),
      'line 3 is not valid UTF-8; save the file as UTF-8',
    ],
    [
      'ends within a character',
      Buffer.from('a,b\n1,日').subarray(0, -1),
      'line 2 is not valid UTF-8; save the file as UTF-8',
    ],
    ['names a column twice', 'a,b,a\n1,2,3\n', 'columns 1 and 3 have the same name in the header; rename one'],
    ['has a column without a name', 'a,,c\n1,2,3\n', 'column 2 has no name in the header; give every column one'],
    [
      'has a column with a long name',
      `a,${'n'.repeat(201)}\n1,2\n`,
      'the name of column 2 is longer than 200 characters; shorten it',
    ],
    [
      'has long names in all of its columns',
      `${Array.from({ length: 1_000 }, (_, n) => String(n).padEnd(200, 'c')).join()}\n${','.repeat(999)}\n`,
      'the names of inputs take 204000 characters, and at most 65536 are allowed; shorten names, or drop columns with input_mapping',
    ],
    [
      'has 10,000 columns',
      `${lines(9_999, (n) => `c${n},`)}last\n${','.repeat(9_999)}\n`,
      'the header has 10000 columns, and at most 1000 are allowed',
    ],
    [
      'has a cell of 10 MB',
      `a,b\n1,2\n3,${'x'.repeat(10_000_000)}\n`,
      'line 3 begins a row larger than 4 MiB; check for a quote that is not closed',
    ],
    [
      'has a cell of little more than 1 MiB',
      `a,b\n1,2\n3,${'x'.repeat(MIB + 1)}\n4,5\n`,
      'line 3 has a cell larger than 1 MiB',
    ],
    [
      'has such a cell outside ASCII, and last',
      `a,b\n1,2\n3,${'日'.repeat(400_000)}`,
      'line 3 has a cell larger than 1 MiB',
    ],
    [
      'has a line of commas',
      `a,b\n1,2\n${','.repeat(5 * MIB)}\n`,
      'line 3 begins a row larger than 4 MiB; check for a quote that is not closed',
    ],
    ['has a quote that is not closed', 'a,b\n1,2\n3,"4\n5,6\n', 'line 3 has a quoted cell that is never closed'],
    [
      'has text after a closing quote',
      'a,b\n1,2\n3,"4"5\n',
      'line 3 has text after the closing quote of a cell; a quote within a quoted cell is written twice',
    ],
    [
      'has a quote within a plain cell',
      'a,b\n1,2\n3,4"5\n',
      'line 3 has a quote within a cell that does not begin with one; put the cell in quotes and write its quotes twice',
    ],
  ])('if it %s', async (_what, content, detail) => {
    const named = detail.startsWith('input_mapping') ? detail : `batch_inputs: ${detail}`;
    expect(await refused({ batch_inputs: await taken.file('bad.csv', content) })).toBe(named);
  });

  it.each<[what: string, body: object, detail: string]>([
    ['an empty delimiter', { delimiter: '' }, 'delimiter: must be '],
    ['two delimiters', { delimiter: ';;' }, 'delimiter: must be '],
    ['a quote as delimiter', { delimiter: '"' }, 'delimiter: must not be a quote, a line break or NUL'],
    ['a line break as delimiter', { delimiter: '\n' }, 'delimiter: must not be a quote, a line break or NUL'],
    [
      'a row key that is not a column',
      { row_key: 'id' },
      'row_key: there is no column "id"; the header has 2 columns with other names',
    ],
    [
      'a row key of 256 characters',
      { row_key: 'x'.repeat(256) },
      'row_key: must be shorter than or equal to 255 characters',
    ],
    ['a mapping to an empty name', { input_mapping: { a: '' } }, 'input_mapping: must not have an empty name'],
    [
      'a mapping of an unknown column',
      { input_mapping: { a: 'x', z: 'y' } },
      'input_mapping: there is no column "z"; the header has 2 columns with other names',
    ],
    [
      'a mapping of two columns to one name',
      { input_mapping: { a: 'x', b: 'x' } },
      'input_mapping: "a" and "b" both become "x"; give one another name',
    ],
    [
      'a mapping to a name of 256 characters',
      { input_mapping: { a: 'x'.repeat(256) } },
      'input_mapping: must not have a name longer than 255 characters',
    ],
    [
      'a mapping with 1,001 names',
      { input_mapping: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`${n}`, `${n}`])) },
      'input_mapping: must not have more than 1000 names',
    ],
    [
      'static inputs that every row would repeat',
      { static_inputs: { text: 'x'.repeat(65_526) } },
      'static_inputs: must not be larger than 64 KiB, because every run stores them',
    ],
  ])('if it is requested with %s', async (_what, body, detail) => {
    expect(await refused({ batch_inputs: await taken.file('good.csv', 'a,b\n1,2\n'), ...body })).toContain(detail);
  });
});

describe('a list is refused, and nothing of it is left', () => {
  it.each<[what: string, body: object, detail: string]>([
    ['is empty', { batch_inputs: [] }, 'batch_inputs: must not be empty'],
    ['has a text among its items', { batch_inputs: [{}, 'text'] }, 'batch_inputs[1]: must be an object'],
    ['has a list among its items', { batch_inputs: [[]] }, 'batch_inputs[0]: must be an object'],
    ['has null among its items', { batch_inputs: [{}, {}, null] }, 'batch_inputs[2]: must be an object'],
    [
      'has an item without the row key',
      { batch_inputs: [{ id: 1 }, { it: 1 }], row_key: 'id' },
      'row_key: batch_inputs[1] has no key "id"',
    ],
  ])('if it %s', async (_what, body, detail) => {
    expect(await refused(body)).toBe(detail);
  });
});

describe('a path is refused', () => {
  const elsewhere = (): string => `${taken.root}-elsewhere`;

  beforeAll(async () => {
    await mkdir(elsewhere(), { recursive: true });
    await writeFile(join(elsewhere(), 'secret.csv'), 'a\n1\n');
    await writeFile(`${taken.root}.csv`, 'a\n1\n');
    await mkdir(join(taken.root, 'folder.csv'));
    await taken.file('plain.csv', 'a\n1\n');
    await symlink(join(elsewhere(), 'secret.csv'), join(taken.root, 'link.csv'));
    await symlink(elsewhere(), join(taken.root, 'link'));
    await symlink('circle.csv', join(taken.root, 'circle.csv'));
    await symlink('/dev/zero', join(taken.root, 'zero.csv'));
    await promisify(execFile)('mkfifo', [join(taken.root, 'fifo.csv')]);
  });
  afterAll(async () => void (await promisify(execFile)('rm', ['-r', elsewhere(), `${taken.root}.csv`])));

  const LEAVES = 'leads out of the csv_root of the service; name a file inside it';
  const NO_CSV = 'does not end in .csv, .tsv or .txt; name a CSV file';

  it.each<[what: string, path: () => string, detail: string]>([
    ['above csv_root', () => `../${basename(elsewhere())}/secret.csv`, LEAVES],
    ['above it by a detour', () => `folder.csv/../../${basename(elsewhere())}/secret.csv`, LEAVES],
    ['above it, of no file', () => '../no such file', LEAVES],
    ['absolute, elsewhere', () => join(elsewhere(), 'secret.csv'), LEAVES],
    ['whose beginning is that of csv_root', () => `${taken.root}.csv`, LEAVES],
    ['of a device', () => '/dev/zero', LEAVES],
    ['of a link that leads out', () => 'link.csv', LEAVES],
    ['through a linked folder that leads out', () => 'link/secret.csv', LEAVES],
    ['of a link to a device', () => 'zero.csv', LEAVES],
    ['of a link to itself', () => 'circle.csv', 'is a link that leads to no file'],
    ['of a folder', () => 'folder.csv', 'is a folder; name a CSV file'],
    ['of csv_root itself', () => '.', NO_CSV],
    ['of nothing', () => '', NO_CSV],
    ['of a FIFO', () => 'fifo.csv', 'is not a regular file; name a CSV file'],
    ['of a missing file', () => 'missing.csv', 'does not exist in the csv_root of the service'],
    ['through a file', () => 'plain.csv/more.csv', 'does not exist in the csv_root of the service'],
    ['with a NUL', () => 'plain.csv\0', 'is not a path'],
    ['longer than paths are', () => `${'x'.repeat(5_000)}.csv`, 'is too long to be a path'],
  ])('%s', async (_what, path, detail) => {
    const answer = await refused({ batch_inputs: path() });
    expect(answer).toMatch(/^batch_inputs: "/);
    expect(answer).toContain(` ${detail}`);
    expect(answer.length).toBeLessThan(200);
  });

  it('to a socket', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(taken.root, 'socket.csv'), resolve));
    expect(await refused({ batch_inputs: 'socket.csv' })).toBe(
      'batch_inputs: "socket.csv" is not a regular file; name a CSV file',
    );
    await new Promise((resolve) => server.close(resolve));
  });

  it('if csv_root does not exist', async () => {
    const rootless = await ImportApp.start({ csvRoot: join(tmpdir(), 'starling-no-such-folder') });
    const { status, body } = await rootless.app.http
      .post('/run/batch')
      .send({ agent_name: 'greeter', batch_inputs: 'a.csv' });
    await rootless.close();
    expect([status, (body as { detail: string }).detail]).toEqual([
      400,
      'batch_inputs: the csv_root of the service is not a folder; ask the operator to correct it, send a list, or upload the file',
    ]);
  });
});

describe('a path is accepted', () => {
  it.each<[what: string, path: () => Promise<string>]>([
    ['absolute, inside csv_root', async () => join(taken.root, await taken.file('inside.csv', 'a\n1\n'))],
    [
      'of a link that stays inside',
      async () => {
        await symlink(await taken.file('target.csv', 'a\n1\n'), join(taken.root, 'inner.csv'));
        return 'inner.csv';
      },
    ],
    ['that goes up and comes back', async () => `folder.csv/../${await taken.file('back.csv', 'a\n1\n')}`],
  ])('%s', async (_what, path) => {
    const { status, body } = await taken.app.http
      .post('/run/batch')
      .send({ agent_name: 'greeter', batch_inputs: await path() });
    expect([status, body]).toMatchObject([200, { status: 'starting', total_items: 1 }]);
  });
});

describe('the body of POST /run/batch', () => {
  const send = (path: string, items: number, bytes = MIB - 100) =>
    taken.app.http.post(path).send({
      agent_name: 'greeter',
      batch_inputs: Array.from({ length: items }, () => ({ note: 'x'.repeat(bytes) })),
    });

  it('may be 32 MiB large with items of 1 MiB, while other bodies are limited to 1 MiB', async () => {
    const before = await taken.held();
    expect((await send('/run/batch', 33)).body).toEqual({ detail: 'The body is larger than 33554432 bytes' });
    expect((await send('/run/batch', 2, MIB)).body).toEqual({
      detail: 'batch_inputs[0]: is larger than 1048576 bytes',
    });
    expect((await send('/run/flock', 2)).body).toEqual({ detail: 'The body is larger than 1048576 bytes' });
    expect(await taken.held()).toEqual(before);
    expect((await send('/run/batch', 31)).status).toBe(200);
  });
});
