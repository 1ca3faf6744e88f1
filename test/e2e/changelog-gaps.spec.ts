// Uses the application, its database, server-sent events and WebSocket. The test sets the clock and the time of a
// deletion.
import { CleanedBoard } from '../retention/cleaned-board.js';
import {
  type Entry,
  type OpenReader,
  queryOf,
  type Reader,
  type ReadParts,
  SseReader,
  WebSocketReader,
} from '../support/changelog-readers.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';

const CONFIG = `
types:
  Note: { retain: 30d }
  Letter: {}
`;

const clock = new ManualClock();
let board: Board;
let cleaned: CleanedBoard;
/** Publishes a note, a letter, two notes and a letter, deletes the notes, and then publishes one more of each. */
let entries: Entry[];
const readers: Reader[] = [];

const listed = async (parts: ReadParts): Promise<Entry[]> =>
  (await board.http.get(`/api/v1/changelog/events?${queryOf(parts)}`).expect(200)).body.items as Entry[];
const publishAll = async (types: string[]): Promise<void> => {
  for (const type of types) await board.publish(type, {}, { correlation: 'post' });
};

beforeAll(async () => {
  board = await Board.start(CONFIG, { clock, settings: { shutdownGraceMs: 0 } });
  cleaned = new CleanedBoard(board, clock);
  await publishAll(['Note', 'Letter', 'Note', 'Note', 'Letter']);
  const old = await listed({ after: 0 });
  await cleaned.cleanUpAfter(30);
  await publishAll(['Note', 'Letter']);
  entries = [...old, ...(await listed({ after: old.at(-1)!.seq }))];
});
afterEach(() => readers.splice(0).forEach((reader) => reader.close()));
afterAll(() => board.close());

const LIST: OpenReader = async (_url, parts = {}) => ({ entries: await listed(parts) }) as unknown as Reader;

describe.each<[string, OpenReader]>([
  ['the list', LIST],
  ['server-sent events', (url, parts) => SseReader.open(url, parts)],
  ['WebSocket', (url, parts) => WebSocketReader.open(url, parts)],
])('a reader by %s that resumes behind a deleted artifact', (protocol, open) => {
  async function shown(parts: ReadParts, count: number): Promise<Entry[]> {
    const reader = await open(board.app.url, parts);
    if (protocol !== 'the list') readers.push(reader);
    await eventually(`${count} entries came`, () => reader.entries.length >= count);
    return reader.entries;
  }

  const gapBehind = (seq: number): object => ({ seq, event_type: 'gap', to_seq: entries[3]!.seq });

  it('receives the range of the gap, and all remaining artifacts', async () => {
    expect(await shown({ after: 0 }, 5)).toEqual([gapBehind(0), entries[1], entries[4], entries[5], entries[6]]);
    const { seq } = entries[2]!;
    expect(await shown({ after: seq, artifact_type: ['Note', 'Letter'], correlation_id: 'post' }, 4)).toEqual([
      gapBehind(seq),
      entries[4],
      entries[5],
      entries[6],
    ]);
  });

  it('receives no gap if all deleted artifacts come before its position, or do not match its filter', async () => {
    expect(await shown({ after: entries[3]!.seq }, 3)).toEqual([entries[4], entries[5], entries[6]]);
    expect(await shown({ after: 0, artifact_type: 'Letter' }, 3)).toEqual([entries[1], entries[4], entries[6]]);
  });
});

it('a list of the newest entries shows a gap on the pages that go below a deleted artifact', async () => {
  const page = (parts: object): Promise<Entry[]> => listed({ ...parts, order: 'desc' } as ReadParts);
  const gap = (seq: number, to_seq: number): object => ({ seq, event_type: 'gap', to_seq });
  const newest = [...entries].reverse();
  expect(await page({ limit: 3 })).toEqual(newest.slice(0, 3));
  expect(await page({})).toEqual([gap(0, entries[3]!.seq), ...newest.slice(0, 3), entries[1]]);
  expect(await page({ after: entries[1]!.seq })).toEqual([gap(0, entries[1]!.seq - 1)]);
  expect(await page({ artifact_type: 'Letter' })).toEqual([entries[6], entries[4], entries[1]]);
});

it('a position stays valid when all artifacts behind it are deleted', async () => {
  const last = entries.at(-1)!;
  await publishAll(['Note', 'Note']);
  const [, end] = await listed({ after: last.seq });
  await cleaned.cleanUpAfter(30);
  const reader = await SseReader.open(board.app.url, {}, { 'Last-Event-ID': String(end!.seq) });
  readers.push(reader);
  const behind = await SseReader.open(board.app.url, {}, { 'Last-Event-ID': String(last.seq) });
  readers.push(behind);
  await publishAll(['Letter']);
  await eventually('both readers have the new one', () => reader.entries.length === 1 && behind.entries.length === 2);
  expect(behind.entries).toEqual([{ seq: last.seq, event_type: 'gap', to_seq: end!.seq }, ...reader.entries]);
});
