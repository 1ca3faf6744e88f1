import { ended, send } from './batch-board.js';
import { Board } from './board.js';

const FAILING = `export default async ([{ payload }]) => {
  if (payload.error && !globalThis.batchIsMended) throw new Error(payload.error);
  return {};
};`;

const CONFIG = `
types:
  Row: { schema: { type: object, properties: { n: { type: integer }, error: { type: string } } } }
agents:
  worker:
    consumes: [{ types: [Row] }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./failing.js }
    retry: { attempts: 1 }
`;

interface Failures {
  groups: { message: string; items: number; first_index: number; first_run_id: string }[];
  other_items: number;
}

/** Uses the whole app over HTTP on a database. */
describe('GET /batch/{batch_id}/failures', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: { 'failing.js': FAILING } });
  });

  afterEach(() => {
    delete (globalThis as { batchIsMended?: boolean }).batchIsMended;
  });

  afterAll(() => board.close());

  const failures = async (id: string): Promise<Failures> =>
    (await board.http.get(`/batch/${id}/failures`).expect(200)).body as Failures;

  it('groups the failed items by messages without their values, with the first item of each', async () => {
    const id = await send(board, 'worker', [
      { n: 1 },
      { n: 'one' },
      { error: 'account 17 is locked' },
      { error: 'account 4711 is locked' },
      { error: 'no answer' },
      { error: 'account 3 is locked' },
    ]);
    const { results } = await ended(board, id);
    const runOf = (index: number): string => results.find((item) => item.index === index)!.run_id;
    const { groups, other_items } = await failures(id);
    expect(groups).toEqual([
      { message: 'worker failed: account <number> is locked', items: 3, first_index: 2, first_run_id: runOf(2) },
      { message: 'inputs.n: must be integer', items: 1, first_index: 1, first_run_id: runOf(1) },
      { message: 'worker failed: no answer', items: 1, first_index: 4, first_run_id: runOf(4) },
    ]);
    expect(other_items).toBe(0);
  });

  it('counts the items that repeat a failed one, and no item that succeeded when it was retried', async () => {
    const rows = ['a', 'b', 'a', 'a'].map((error) => ({ error }));
    const id = await send(board, 'worker', rows, { row_key: 'error' });
    await ended(board, id);
    expect((await failures(id)).groups).toMatchObject([
      { message: 'worker failed: a', items: 3, first_index: 0 },
      { message: 'worker failed: b', items: 1, first_index: 1 },
    ]);
    Object.assign(globalThis, { batchIsMended: true });
    await board.http.post(`/batch/${id}/retry-failed`).expect(200);
    await ended(board, id);
    expect(await failures(id)).toEqual({ groups: [], other_items: 0 });
  });

  it('answers with the 100 largest groups, and counts the items of all others', async () => {
    const letters = (n: number): string => String.fromCharCode(97 + Math.floor(n / 26), 97 + (n % 26));
    const rows = Array.from({ length: 120 }, (_, n) => ({ error: letters(n) }));
    const id = await send(board, 'worker', [...rows, { error: letters(119) }]);
    await ended(board, id);
    const { groups, other_items } = await failures(id);
    expect([groups.length, groups[0], other_items]).toEqual([
      100,
      expect.objectContaining({ message: `worker failed: ${letters(119)}`, items: 2, first_index: 119 }),
      20,
    ]);
  });
});
