// Uses the application on both databases, with one megabyte for clients' data. Nothing is faked.
import { MemoryBudget } from '../../src/common/memory-budget.js';
import { Board } from './board.js';

let board: Board;
beforeAll(async () => {
  board = await Board.start('types: { Note: {} }\n', { settings: { memoryBudgetBytes: 1_024 ** 2 } });
});
afterAll(() => board.close());

/** Different tags for each artifact, as many and as long as an artifact may have. */
const tags = (artifact: number): string[] => Array.from({ length: 100 }, (_, n) => `${artifact}-${n}`.padEnd(255, 'x'));
const summary = (correlation: string) =>
  board.http.get('/api/v1/artifacts/summary').query({ correlation_id: correlation });

it('counts different tags only as far as there is memory for them, and frees the memory', async () => {
  for (let n = 0; n < 30; n += 1)
    await board.publish('Note', {}, { correlation: n < 5 ? 'few' : 'many', tags: tags(n) });
  const refused = await summary('many');
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1']);
  const counted = await summary('few').expect(200);
  expect(Object.keys((counted.body as { summary: { by_tag: object } }).summary.by_tag)).toEqual(tags(0).toSorted());
  expect(board.app.app.get(MemoryBudget).usedBytes).toBe(0);
});
