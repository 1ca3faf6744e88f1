import { PART } from './held-text.js';

/**
 * Artifacts that are read from the database when they are sent: whole, whole with their consumptions, or only their
 * payloads, plain or as quoted CSV cells.
 */
export interface StoredItems {
  show: 'artifacts' | 'consumed' | 'payloads' | 'cells';
  /** The positions of the artifacts. */
  seqs: number[];
  /** Bytes of each artifact in the database. */
  bytes: number[];
}

/** An item of a list: its text, or stored items that are still to be read. */
export type Item = string | StoredItems;

/** A piece of a text: a string, or a list of items that are joined by commas. */
export type Piece = string | readonly Item[];

/** Rows per query. */
const MOST_ROWS = 64;

/** Appends an artifact, to the last item if that has the same `show`. */
export function addStored(items: Item[], show: StoredItems['show'], seq: number, bytes: number): void {
  const last = items.at(-1);
  if (typeof last !== 'object' || last.show !== show) return void items.push({ show, seqs: [seq], bytes: [bytes] });
  last.seqs.push(seq);
  last.bytes.push(bytes);
}

/**
 * Splits a piece into groups that can be read or added together. A group of stored items fills at most one part, or is
 * a single larger item.
 */
export function* groupsOf(piece: Piece): Generator<Item> {
  if (typeof piece === 'string') return yield piece;
  for (const item of piece) {
    if (typeof item === 'string') yield item;
    else yield* groupsOfStored(item);
  }
}

export function* groupsOfStored({ show, seqs, bytes }: StoredItems): Generator<StoredItems> {
  for (let start = 0; start < seqs.length;) {
    let end = start;
    let size = 0;
    do size += bytes[end++]!;
    while (end < seqs.length && end - start < MOST_ROWS && size + bytes[end]! <= PART);
    yield { show, seqs: seqs.slice(start, end), bytes: bytes.slice(start, end) };
    start = end;
  }
}

export const sizeOf = (item: Item): number =>
  typeof item === 'string' ? item.length : item.bytes.reduce((sum, each) => sum + each, 0);

/** Returns the whole text if it needs no reads and fits into one part, otherwise null. */
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

/** Escapes the pieces for a CSV cell (RFC 4180). The caller adds the quotes around it. */
export const inCell = (pieces: readonly Piece[]): Piece[] =>
  pieces.map((piece) =>
    typeof piece === 'string'
      ? quoted(piece)
      : piece.map((item) => (typeof item === 'string' ? quoted(item) : { ...item, show: 'cells' })),
  );

export const quoted = (text: string): string => text.replaceAll('"', '""');
