import { PART } from './held-text.js';

/** Artifacts that are read when their turn comes: as a whole, with their consumptions, or only their payloads, plain or as quoted cells of a CSV. */
export interface StoredItems {
  show: 'artifacts' | 'consumed' | 'payloads' | 'cells';
  /** Their positions. */
  seqs: number[];
  /** What each is in the database. */
  bytes: number[];
}

/** An item of a list, as its text or to be read. */
export type Item = string | StoredItems;

/** A piece of a text: as it is, or a list of items, between which commas are put. */
export type Piece = string | readonly Item[];

/** Rows of one query. */
const MOST_ROWS = 64;

/** After the last item, or as a part of it. */
export function addStored(items: Item[], show: StoredItems['show'], seq: number, bytes: number): void {
  const last = items.at(-1);
  if (typeof last !== 'object' || last.show !== show) return void items.push({ show, seqs: [seq], bytes: [bytes] });
  last.seqs.push(seq);
  last.bytes.push(bytes);
}

/** A piece in what can be read, or added, at once. Stored items: as many as one part takes, or one that is larger. */
export function* groupsOf(piece: Piece): Generator<Item> {
  if (typeof piece === 'string') return yield piece;
  for (const item of piece) {
    if (typeof item === 'string') yield item;
    else yield* groupsOfStored(item);
  }
}

/** The same of stored items alone. */
export function* groupsOfStored({ show, seqs, bytes }: StoredItems): Generator<StoredItems> {
  for (let start = 0; start < seqs.length; ) {
    let end = start;
    let size = 0;
    do size += bytes[end++]!;
    while (end < seqs.length && end - start < MOST_ROWS && size + bytes[end]! <= PART);
    yield { show, seqs: seqs.slice(start, end), bytes: bytes.slice(start, end) };
    start = end;
  }
}

export const sizeOf = (item: Item): number => (typeof item === 'string' ? item.length : item.bytes.reduce((sum, each) => sum + each, 0));

/** The whole text if none of it has to be read and it fits into one part; otherwise null. */
export function textAtHand(pieces: readonly Piece[]): string | null {
  let text = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') text += piece;
    else {
      let separator = '';
      for (const item of piece) {
        if (typeof item !== 'string') return null;
        text += separator + item;
        separator = ',';
      }
    }
  }
  return text.length <= PART ? text : null;
}

/** The same in a cell of a CSV (RFC 4180) that the caller puts quotes around. */
export const inCell = (pieces: readonly Piece[]): Piece[] =>
  pieces.map((piece) => (typeof piece === 'string' ? quoted(piece) : piece.map((item) => (typeof item === 'string' ? quoted(item) : { ...item, show: 'cells' }))));

export const quoted = (text: string): string => text.replaceAll('"', '""');
