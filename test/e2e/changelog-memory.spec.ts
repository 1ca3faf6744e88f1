// Uses the application on both databases, with two megabytes for clients' data, and readers over the network. Nothing
// is faked.
import { MemoryBudget } from '../../src/common/memory-budget.js';
import { type Entry, SseReader, WebSocketReader } from '../support/changelog-readers.js';
import { eventually } from '../support/eventually.js';
import { Board } from './board.js';

const MIB = 1_024 ** 2;
const BUDGET = 2 * MIB;
const PUBLISHED = 20;

let board: Board;
beforeEach(async () => {
  board = await Board.start('types: { Note: {} }\n', { settings: { memoryBudgetBytes: BUDGET } });
});
afterEach(() => board.close());

/** Entries of a quarter of a megabyte. */
const WIDE = { kind: 'Private', agents: Array.from({ length: 1_000 }, (_, n) => `${n}`.padStart(255, 'x')) };
const publishWide = (): Promise<string> => board.publish('Note', {}, { visibility: WIDE });
const usedBytes = (): number => board.app.app.get(MemoryBudget).usedBytes;

interface Page {
  items: (Entry & { visibility: object })[];
  pagination: { next: number; has_more: boolean };
}

it('a page stops before it becomes too large, and the next one continues there', async () => {
  for (let n = 0; n < PUBLISHED; n += 1) await publishWide();
  await board.publish('Note', {});
  const seen: Page['items'] = [];
  for (let page: Page = { items: [], pagination: { next: 0, has_more: true } }; page.pagination.has_more;) {
    const answer = await board.http.get('/api/v1/changelog/events').query({ limit: 500, after: page.pagination.next });
    expect([answer.status, answer.text.length < MIB]).toEqual([200, true]);
    page = answer.body as Page;
    seen.push(...page.items);
  }
  expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: PUBLISHED + 1 }, (_, n) => n + 1));
  expect([seen[0]!.visibility, seen.at(-1)!.visibility]).toEqual([WIDE, { kind: 'Public' }]);
  await eventually('all memory is free', () => usedBytes() === 0);
});

it('a stream that resumes gets all of them, and so does one with a filter', async () => {
  for (let n = 0; n < PUBLISHED; n += 1) await publishWide();
  for (const filter of [{}, { artifact_type: ['Note', 'Other'] }, { produced_by: 'external' }]) {
    const reader = await SseReader.open(board.app.url, { after: 0, ...filter });
    await eventually('it has all of them', () => reader.entries.length === PUBLISHED);
    reader.close();
  }
});

it.each([
  ['server-sent events', SseReader],
  ['WebSocket', WebSocketReader],
])('buffers for slow readers of %s count, and stay within a quarter of the budget', async (_protocol, { open }) => {
  const stalled = await Promise.all(Array.from({ length: 4 }, () => open(board.app.url)));
  stalled.forEach((reader) => reader.pause());
  const reading = await open(board.app.url);
  const closings = (): number =>
    board.app.logLines.filter(({ msg }) => msg === 'a stream was closed: its reader is too slow').length;
  let most = 0;
  for (let published = 0; closings() < stalled.length; published += 1) {
    expect(published).toBeLessThan(200);
    await publishWide();
    await eventually('all streams have had it', () => reading.entries.length > published);
    most = Math.max(most, usedBytes());
    expect(usedBytes()).toBeLessThanOrEqual(BUDGET / 4);
  }
  expect(most).toBeGreaterThan(WIDE.agents.length * 255);
  reading.close();
  await eventually('no memory is reserved for closed streams', () => usedBytes() === 0);
  stalled.forEach((reader) => reader.close());
});
