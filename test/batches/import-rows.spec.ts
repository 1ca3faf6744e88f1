// Uses the application, its database and CSV files on disk. The tests call the import as the batch service does.
import { readFile } from 'node:fs/promises';

import fc from 'fast-check';

import { eventually } from '../support/eventually.js';
import { printedSeed } from '../support/random.js';
import { draftOf, ImportApp, inputsOf } from './import-app.js';

let taken: ImportApp;
beforeAll(async () => void (taken = await ImportApp.start()));
afterAll(() => taken.close());

/** Waits for the end of the batch that this answer names. */
async function errorsOf({ body }: { body: unknown }): Promise<(string | undefined)[]> {
  const { batch_id: id } = body as { batch_id: string };
  let batch = {} as { completed_at?: string; results: { error?: string }[] };
  await eventually('the batch has ended', async () => {
    batch = (await taken.app.http.get(`/batch/${id}`).expect(200)).body as typeof batch;
    return batch.completed_at !== undefined;
  });
  return batch.results.map(({ error }) => error);
}

describe('a CSV', () => {
  it.each<[what: string, csv: string | Buffer, delimiter: string, inputs: object[]]>([
    [
      'quoted commas, doubled quotes and line breaks',
      'a,b\n"x, y","say ""hi"""\n"one\ntwo\r\nthree",""\n',
      ',',
      [
        { a: 'x, y', b: 'say "hi"' },
        { a: 'one\ntwo\r\nthree', b: '' },
      ],
    ],
    [
      'both kinds of line break',
      'a,b\r\n1,2\n3,4\r\n',
      ',',
      [
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ],
    ],
    ['carriage returns in quoted cells', '"a\r",b\r\n"\r1","2\r""\r"\r\n', ',', [{ 'a\r': '\r1', b: '2\r"\r' }]],
    ['no line break at its end', 'a\n1', ',', [{ a: '1' }]],
    ['empty lines, which are not rows', 'a\n\n1\n\n\n""\n2\n\n', ',', [{ a: '1' }, { a: '' }, { a: '2' }]],
    ['a byte-order mark', '\ufeff"a",b\n1,2\n', ',', [{ a: '1', b: '2' }]],
    ['tabs', 'a\tb\n1,5\t2\n', '\t', [{ a: '1,5', b: '2' }]],
    ['a delimiter of several bytes', 'a¦b\n1¦2\n', '¦', [{ a: '1', b: '2' }]],
    ['spaces, which belong to their cells', 'a, b\n 1 ,  \n', ',', [{ a: ' 1 ', ' b': '  ' }]],
    [
      'characters outside ASCII',
      'naïve,\u{1f426}\n\u{1d11e},日本\n',
      ',',
      [{ naïve: '\u{1d11e}', '\u{1f426}': '日本' }],
    ],
  ])('with %s', async (_what, csv, delimiter, inputs) => {
    expect(inputsOf(await taken.csv(csv, {}, delimiter))).toEqual(inputs);
  });

  it('is read as it was written, whatever its cells contain', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', '1', ' ', ',', '"', '\n', '\r', '\r\n', '\t', 'é', '日', '\u{1f426}'),
      maxLength: 12,
    });
    const table = fc
      .integer({ min: 1, max: 5 })
      .chain((columns) =>
        fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 30 }),
      );
    const lineBreak = fc.constantFrom('\n', '\r\n');
    await fc.assert(
      fc.asyncProperty(table, lineBreak, fc.boolean(), async (rows, end, quoteAll) => {
        const header = rows[0]!.map((_, column) => `column ${column}`);
        const quoted = (text: string): string =>
          quoteAll || text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
        const csv = [header, ...rows].map((row) => row.map(quoted).join(',') + end).join('');
        const wanted = rows.map((row) => Object.fromEntries(row.map((text, column) => [header[column], text])));
        expect(inputsOf(await taken.csv(csv))).toEqual(wanted);
      }),
      { numRuns: 60, seed: printedSeed() },
    );
  });

  it('keeps characters whole that span two chunks of the file', async () => {
    // The characters have three bytes each, so that each chunk boundary falls at another place in a character.
    const cells = Array.from({ length: 2_000 }, (_, index) => '日'.repeat(20 + (index % 61)));
    expect(inputsOf(await taken.csv(`text\n${cells.join('\n')}\n`))).toEqual(cells.map((text) => ({ text })));
  });

  it('keeps the order and the number of 5,000 rows', async () => {
    const draft = draftOf();
    const rows = await taken.csv(`n\n${Array.from({ length: 5_000 }, (_, n) => n).join('\n')}\n`, draft);
    expect(rows.map(({ position, inputs }) => [position, inputs])).toEqual(rows.map((_, n) => [n, `{"n":"${n}"}`]));
    expect(await taken.batch(draft.id)).toMatchObject({
      status: 'running',
      total_items: 5_000,
      agent: 'greeter',
      max_workers: 5,
      import_owner: null,
      import_until: null,
    });
  });

  it("keeps the line breaks in BANKING77's texts", async () => {
    const file = await readFile('examples/support-desk/banking77/test.csv');
    const texts = (inputsOf(await taken.csv(file)) as { text: string }[]).map(({ text }) => text);
    const broken = texts.filter((text) => text.includes('\n'));
    expect([texts.length, broken.length]).toEqual([3_080, 3]);
    for (const text of broken) expect(file.toString()).toContain(`"${text.replaceAll('"', '""')}"`);
  });

  it('is mapped: columns are renamed, and unmapped columns are dropped', async () => {
    expect(inputsOf(await taken.csv('a,b,c\n1,2,3\n', { inputMapping: { b: 'x', a: 'b' } }))).toEqual([
      { b: '1', x: '2' },
    ]);
    expect(inputsOf(await taken.csv('a\n1\n', { inputMapping: {} }))).toEqual([{}]);
  });

  it("may have columns with the names of Object.prototype's properties", async () => {
    const [row] = await taken.csv('constructor,toString,hasOwnProperty\n1,2,3\n', {});
    expect(row!.inputs).toBe('{"constructor":"1","toString":"2","hasOwnProperty":"3"}');
  });

  it('with columns that its agent does not take has items that fail, whose errors do not name them if it is on the server', async () => {
    const request = { agent_name: 'joiner', static_inputs: { Person: {} } };
    const named = taken.app.http
      .post('/run/batch')
      .send({ ...request, batch_inputs: await taken.file('joined.csv', 'secret,b\n1,2\n3,4\n') });
    const uploaded = taken.app.http
      .post('/run/batch')
      .field('request', JSON.stringify(request))
      .attach('file', Buffer.from('a,b\n1,2\n'), 'a.csv');
    const TAKES = 'inputs: joiner takes an object with Person and Letter as its keys';
    expect([await errorsOf(await named), await errorsOf(await uploaded)]).toEqual([
      [TAKES, TAKES],
      [`${TAKES} (got Person, a, b)`],
    ]);
  });

  describe("has the types of the agent's schema", () => {
    it.each<[column: string, cell: string, value: unknown]>([
      ['age', '42', 42],
      ['age', '-0', 0],
      ['age', '1e3', 1_000],
      ['age', '9007199254740991', 9_007_199_254_740_991],
      ['height', '1.85', 1.85],
      ['height', '-2E-1', -0.2],
      ['member', 'TRUE', true],
      ['member', 'False', false],
      ['note', '42', '42'],
      ['other', 'true', 'true'],
      ['maybe', '7', 7],
      ['maybe', '', null],
      ['mixed', 'true', true],
      ['mixed', '1.5', 1.5],
      ['mixed', 'so so', 'so so'],
      ['mixed', '', ''],
    ])('%s: %j becomes %j', async (column, cell, value) => {
      const [row] = await taken.csv(`x,${column}\n,${cell}\n`);
      expect([JSON.parse(row!.inputs), row!.problem]).toEqual([{ x: '', [column]: value }, null]);
    });

    it.each<[column: string, cell: string, problem: string]>([
      ['age', 'abc', 'column age: "abc" is not a valid integer'],
      ['age', '', 'column age: "" is not a valid integer'],
      ['age', '1.5', 'column age: "1.5" is not a valid integer'],
      ['age', '9007199254740993', 'column age: "9007199254740993" is not a valid integer'],
      ['age', ' 42', 'column age: " 42" is not a valid integer'],
      ['age', '0x10', 'column age: "0x10" is not a valid integer'],
      ['age', '042', 'column age: "042" is not a valid integer'],
      ['height', 'NaN', 'column height: "NaN" is not a valid number'],
      ['height', 'Infinity', 'column height: "Infinity" is not a valid number'],
      ['height', '1e999', 'column height: "1e999" is not a valid number'],
      ['height', '1,5', 'column height: "1,5" is not a valid number'],
      ['member', 'yes', 'column member: "yes" is not a valid boolean'],
      ['maybe', 'none', 'column maybe: "none" is not a valid integer'],
    ])('%s: %j is a problem of its row only', async (column, cell, problem) => {
      const good = column === 'member' ? 'true' : '1';
      const rows = await taken.csv(`${column}\tz\n${cell}\t1\n${good}\t2\n`, {}, '\t');
      expect(rows.map((row) => row.problem)).toEqual([problem, null]);
    });

    it('shortens a long cell in an error', async () => {
      const [row] = await taken.csv(`age\n${'x'.repeat(1_000)}\n`);
      expect(row!.problem).toBe(`column age: "${'x'.repeat(60)}..." is not a valid integer`);
    });

    it('converts a column under the name that a mapping gives', async () => {
      const rows = await taken.csv('Alter\n42\nalt\n', { inputMapping: { Alter: 'age' } });
      expect(rows.map(({ inputs, problem }) => [inputs, problem])).toEqual([
        ['{"age":42}', null],
        ['{"age":"alt"}', 'column Alter: "alt" is not a valid integer'],
      ]);
    });
  });
});

describe('a list', () => {
  it('is stored as it was sent, without the static inputs, which the batch stores once', async () => {
    const items: object[] = [{ age: '42', deep: { list: [1, null] } }, {}, { constructor: 'me', note: 'own' }];
    expect(inputsOf(await taken.list(items, { staticInputs: { note: 'static' } }))).toEqual(items);
  });

  it('is mapped; a key that is missing in an item stays absent', async () => {
    expect(
      inputsOf(
        await taken.list([{ a: 1, b: 2 }, { b: 3 }, { toString: 1 }], { inputMapping: { a: 'x', toString: 'y' } }),
      ),
    ).toEqual([{ x: 1 }, {}, { y: 1 }]);
  });
});

describe('row_key', () => {
  it('makes later rows with an equal value repeat the first, within a transaction and across transactions', async () => {
    // More rows than one transaction inserts, and every key occurs again in a later one.
    const keys = Array.from({ length: 1_700 }, (_, index) => `key ${index % 600}`);
    const rows = await taken.csv(`id,n\n${keys.map((key, n) => `${key},${n}`).join('\n')}\n`, { rowKey: 'id' });
    const firsts = keys.map((key) => keys.indexOf(key));
    expect(rows.map(({ repeats }) => repeats)).toEqual(firsts.map((first, n) => (first === n ? null : first)));
    expect(rows.map(({ copies }) => copies)).toEqual(
      firsts.map((first, n) => (first === n ? keys.filter((key) => key === keys[n]).length - 1 : 0)),
    );
    expect(inputsOf(rows.slice(0, 600))).toEqual(keys.slice(0, 600).map((id, n) => ({ id, n: String(n) })));
    expect((await taken.held()).batch_keys).toBe(0);
  });

  it('distinguishes long values, and a short value from the hash of a long one', async () => {
    const long = 'x'.repeat(5_000);
    const rows = await taken.csv(`id\n${long}a\n${long}b\n${long}a\n\n`, { rowKey: 'id' });
    expect(rows.map(({ repeats }) => repeats)).toEqual([null, null, 0]);
  });

  it('may be a column that is dropped', async () => {
    const rows = await taken.csv('id,text\n1,a\n1,b\n', { rowKey: 'id', inputMapping: { text: 'text' } });
    expect(rows.map(({ inputs, repeats, copies }) => [inputs, repeats, copies])).toEqual([
      ['{"text":"a"}', null, 1],
      ['{}', 0, 0],
    ]);
  });

  it("compares a list's values with their types", async () => {
    const rows = await taken.list([{ id: 1 }, { id: '1' }, { id: [1] }, { id: 1 }, { id: [1] }, { id: null }], {
      rowKey: 'id',
    });
    expect(rows.map(({ repeats }) => repeats)).toEqual([null, null, null, 0, 2, null]);
  });
});
