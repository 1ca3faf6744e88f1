import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

import { parse } from 'csv-parse/sync';

import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';

const EXAMPLE = new URL('../../examples/support-desk/', import.meta.url);
/** A file in the folder that the example's configuration lets requests name. */
const FILE = 'test.csv';

interface Reply {
  intent: string;
}

interface Item {
  index: number;
  run_id: string;
  status: string;
  /** The number of artifacts by type if a person is asked as well. */
  result: Reply | { Reply: Reply; HumanReview: object };
}

interface Message {
  correlation_id: string;
  payload: { text: string };
}

// Uses the example's configuration and agents, all of test.csv as one batch, HTTP and a SQLite file. Nothing is faked.
describe('the test messages as a batch through the support desk', () => {
  const rows = parse(readFileSync(new URL(`banking77/${FILE}`, EXAMPLE)), { columns: true, bom: true }) as {
    text: string;
    category: string;
  }[];
  let desk: TestApp;
  let items: Item[];
  let inputs: Map<string, string>;

  beforeAll(async () => {
    desk = await startApp({ configFile: new URL('starling.yaml', EXAMPLE).pathname, settings: { logLevel: 'warn' } });
    const request = {
      agent_name: 'classifier',
      batch_inputs: FILE,
      input_mapping: { text: 'text' },
      max_workers: 1_000,
    };
    const { batch_id: id } = (await desk.http.post('/run/batch').send(request).expect(200)).body as {
      batch_id: string;
    };
    const status = async (): Promise<string> =>
      ((await desk.http.get(`/batch/${id}?results_limit=0`)).body as { status: string }).status;
    await eventually('the batch has finished', async () => !['starting', 'running'].includes(await status()), 500_000);
    const { body } = await desk.http.get(`/batch/${id}?results_limit=10000`).expect(200);
    expect(body).toMatchObject({
      status: 'completed',
      total_items: rows.length,
      completed_items: rows.length,
      failed_items: 0,
      progress_percentage: 100,
    });
    items = (body as { results: Item[] }).results;
    inputs = await messages();
  }, 600_000);

  afterAll(() => desk.close());

  /** Returns the text of every message on the blackboard, by its correlation. */
  const messages = async (): Promise<Map<string, string>> => {
    const texts = new Map<string, string>();
    let after = '';
    for (;;) {
      const { body } = await desk.http.get(`/api/v1/artifacts?type=CustomerMessage&limit=500${after}`).expect(200);
      const page = (body as { items: (Message & { id: string })[] }).items;
      for (const { correlation_id, payload } of page) texts.set(correlation_id, payload.text);
      if (page.length === 0) return texts;
      after = `&after=${page.at(-1)!.id}`;
    }
  };

  it('finishes every row, with its result in the order of the file', () => {
    expect(items.map(({ index, status }) => [index, status])).toEqual(rows.map((_, index) => [index, 'completed']));
    expect(new Set(items.map(({ run_id }) => run_id)).size).toBe(rows.length);
  });

  it('imports every text as it is in the file, including quoted commas, doubled quotes and line breaks', () => {
    expect(inputs.size).toBe(rows.length);
    expect(items.map(({ run_id }) => inputs.get(run_id))).toEqual(rows.map(({ text }) => text));
    // Checks that the file has each of these; otherwise the comparison would prove nothing.
    expect(rows.filter(({ text }) => text.includes('\n'))).toHaveLength(3);
    for (const part of [',', '"']) expect(rows.some(({ text }) => text.includes(part))).toBe(true);
  });

  it('names as many intents correctly as the example documents', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['examples/support-desk/accuracy.ts']);
    const [, right, of] = /^right: (\d+) of (\d+)$/m.exec(stdout)!;
    const named = items.filter(
      ({ result }, index) => ('Reply' in result ? result.Reply : result).intent === rows[index]!.category,
    );
    expect([named.length, items.length]).toEqual([Number(right), Number(of)]);
  });
});
