import { createHash } from 'node:crypto';

import { parse } from 'csv-parse/sync';

import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { eventually } from '../support/eventually.js';
import { expectShortTurns } from '../support/main-thread.js';
import { type Item, orders, send, show } from './batch-board.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  large:
    consumes: [{ types: [Wanted] }]
    publishes: [{ type: Large }]
    engine: { kind: function, module: ./large.js }
  gated:
    consumes: [{ types: [Gated] }]
    publishes: [{ type: Passed }]
    engine: { kind: function, module: ./gated.js }
`;

const MIB = 1_024 ** 2;

const LONGEST_MS = 250;

// 1.2 MB each, in many values, which take longer to parse than one long text.
const FILES = {
  'large.js': `export default async ([{ payload }]) => ({
    key: payload.key,
    lines: Array.from({ length: 12_000 }, (_, line) => ({ line, text: ('of ' + payload.key).padEnd(80, '.') })),
  });`,
  'gated.js': `
    const gate = new Promise((open) => (globalThis.openResultsGate = open));
    export default async ([{ payload }]) => {
      if (payload.waits) await gate;
      return { text: '.'.repeat(payload.characters) };
    };`,
};

/** Uses the whole app over HTTP on a database. */
describe('large results of a batch', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: FILES, settings: { bodyLimitBytes: 2 * MIB } });
  });

  afterAll(() => board.close());

  const run = async (inputs: object[], more: object = {}): Promise<string> => {
    const id = await send(board, 'large', inputs, more);
    await eventually(
      `batch ${id} has finished`,
      async () => (await show(board, id, { results_limit: 0 })).completed_at !== undefined,
    );
    return id;
  };

  const stream = (id: string, accept = '*/*'): Promise<Response> =>
    fetch(`${board.app.url}/batch/${id}/results`, { headers: { accept } });

  describe('with five repeats of each row', () => {
    const keys = Array.from({ length: 150 }, (_, n) => n % 5);
    let id: string;

    beforeAll(async () => {
      id = await run(
        keys.map((key) => ({ key })),
        { row_key: 'key' },
      );
    });

    it('stream completely, without blocking other requests', async () => {
      let streamed = { lines: 0, digest: createHash('sha256') };
      await expectShortTurns(async () => {
        streamed = { lines: 0, digest: createHash('sha256') };
        for await (const chunk of (await stream(id)).body!) {
          streamed.digest.update(chunk);
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) streamed.lines += 1;
        }
      }, LONGEST_MS);
      const { results } = await show(board, id, { results_limit: 5 });
      const expected = createHash('sha256');
      keys.forEach((key, index) => expected.update(`${JSON.stringify({ ...results[key], index })}\n`));
      expect([streamed.lines, streamed.digest.digest('hex')]).toEqual([keys.length, expected.digest('hex')]);
    });

    it('come as one page of any size, without blocking other requests', async () => {
      let bytes = 0;
      let text = '';
      await expectShortTurns(async () => {
        bytes = 0;
        text = '';
        for await (const chunk of (await fetch(`${board.app.url}/batch/${id}`)).body!) {
          bytes += chunk.length;
          text = (text + Buffer.from(chunk).toString('latin1')).slice(-100);
        }
      }, LONGEST_MS);
      expect(bytes).toBeGreaterThan(keys.length * MIB);
      expect(text).toMatch(/"completed_at":"[^"]+"}$/);
    });

    it('come as a page if they are few', async () => {
      const { results } = await show(board, id, { results_limit: 10, results_offset: 100 });
      expect(results.map(({ index, result }) => [index, result!.key])).toEqual(
        keys.slice(100, 110).map((key, n) => [100 + n, key]),
      );
      expect(JSON.stringify(results).length).toBeGreaterThan(10 * MIB);
    });
  });

  it('stream those of the items that have ended, while their batch is running', async () => {
    // More than the system buffers for a connection, and more items than are looked up together.
    const items = Array.from({ length: 400 }, (_, n) => ({ characters: n < 20 ? MIB : 1, waits: n === 399 }));
    const id = await send(board, 'gated', items);
    const hasEnded = (count: number): Promise<void> =>
      eventually(
        `${count} items have ended`,
        async () => (await show(board, id, { results_limit: 0 })).completed_items === count,
      );
    await hasEnded(399);
    const response = await stream(id);
    (globalThis as unknown as { openResultsGate: () => void }).openResultsGate();
    await hasEnded(400);
    const linesOf = async (answer: Response): Promise<number> => (await answer.text()).split('\n').length - 1;
    expect([await linesOf(response), await linesOf(await stream(id))]).toEqual([399, 400]);
  });

  it('stream completely as CSV', async () => {
    const id = await run(Array.from({ length: 7 }, (_, key) => ({ key })));
    const text = await (await stream(id, 'text/csv')).text();
    expect(await (await fetch(`${board.app.url}/batch/${id}/results?format=csv`)).text()).toBe(text);
    const [, ...rows] = parse(text) as string[][];
    const { results } = await show(board, id);
    expect(results).toHaveLength(7);
    const shown = rows.map(([index, runId, , result]) => ({
      index: Number(index),
      run_id: runId,
      result: JSON.parse(result!) as Item['result'],
    }));
    // Compared as text: a difference of megabytes would not help.
    expect(
      JSON.stringify(shown) === JSON.stringify(results.map(({ index, run_id, result }) => ({ index, run_id, result }))),
    ).toBe(true);
  });

  it("are cut off if some are deleted meanwhile, and the log reports it under the request's id", async () => {
    // More than the system buffers for a connection; the first 16 are fixed from the beginning.
    const id = await run(orders(16).map((_, key) => ({ key })));
    const { results } = await show(board, id, { results_limit: 1, results_offset: 15 });
    const response = await stream(id);
    const reader = response.body!.getReader();
    await reader.read();
    await deleteArtifacts(results[0]!.run_id);
    const rest = async (): Promise<void> => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toThrow('terminated');
    const lines = board.app.logLines.filter(({ msg }) => msg === 'failed while answering');
    expect(lines).toEqual([
      expect.objectContaining({
        request_id: response.headers.get('x-request-id'),
        err: expect.objectContaining({ message: expect.stringContaining('deleted') }),
      }),
    ]);
  });

  const deleteArtifacts = (correlation: string): Promise<unknown> =>
    board.app.app
      .get(UnitOfWork, { strict: false })
      .run((tx) => tx.db.deleteFrom('artifacts').where('correlation_id', '=', correlation).execute());
});
