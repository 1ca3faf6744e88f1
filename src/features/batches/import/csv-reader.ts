import { isUtf8 } from 'node:buffer';
import { finished } from 'node:stream/promises';

import { CsvError, Parser } from 'csv-parse';

import { DomainError } from '../../../common/domain-error.js';
import { type ByteSource, chunksOf } from './file-chunks.js';

const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;
const CHUNK_BYTES = 16 * 1_024;
const MIB = 1_024 * 1_024;
const MAX_CELL_BYTES = MIB;
// Bounds the memory of one row. A quote that is never closed would turn the rest of the file into one row.
const MAX_ROW_BYTES = 4 * MIB;

/** Errors of csv-parse, for the message "line 7 ...". */
const FAULTS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quoted cell that is never closed',
  CSV_INVALID_CLOSING_QUOTE:
    'has text after the closing quote of a cell; a quote within a quoted cell is written twice',
  INVALID_OPENING_QUOTE:
    'has a quote within a cell that does not begin with one; put the cell in quotes and write its quotes twice',
};

/**
 * Yields the rows of a CSV file (RFC 4180), the header first, in lists as they come from the disk. Empty lines are
 * skipped. The memory of one list does not depend on the size of the file. Throws DomainError `invalid`, which names
 * `field`, if the file is not such a CSV.
 */
export async function* readCsv(field: string, file: ByteSource, delimiter: string): AsyncGenerator<string[][]> {
  try {
    yield* parse(file, delimiter);
  } catch (error) {
    if (!(error instanceof CsvFault)) throw error;
    const line = (await lineOf(file, error.offset)) - error.linesBefore;
    throw new DomainError('invalid', `${field}: line ${line} ${error.message}`);
  }
}

async function* parse(file: ByteSource, delimiter: string): AsyncGenerator<string[][]> {
  const text = new TextCheck();
  const ends = new LineEndCheck();
  // Both kinds of line break, because concatenated files contain both.
  const parser = new Parser({ bom: true, delimiter, record_delimiter: ['\r\n', '\n'], skip_empty_lines: true });
  // Errors are read from `errored` after each chunk.
  parser.on('error', () => {});
  let unread = 0;
  for await (const chunk of chunksOf(file, CHUNK_BYTES)) {
    const before = parser.info.bytes;
    const whole = text.next(chunk);
    ends.next(whole);
    parser.write(whole);
    const rows = finishedRows(parser);
    checkCells(rows, before);
    unread = rows.length > 0 ? 0 : unread + chunk.length;
    if (unread > MAX_ROW_BYTES)
      throw new CsvFault(
        `begins a row larger than ${MAX_ROW_BYTES / MIB} MiB; check for a quote that is not closed`,
        parser.info.bytes,
      );
    if (rows.length > 0) yield rows;
  }
  text.end();
  ends.end();
  const before = parser.info.bytes;
  parser.end();
  // The parser keeps the last line until its input ends.
  await finished(parser, { readable: false }).catch(() => {});
  const last = finishedRows(parser);
  checkCells(last, before);
  if (last.length > 0) yield last;
}

/** Returns the rows that the last chunk completed. csv-parse processes a chunk synchronously while it is written. */
function finishedRows(parser: Parser): string[][] {
  if (parser.errored) throw asFault(parser.errored);
  const rows: string[][] = [];
  for (let row = parser.read() as string[] | null; row !== null; row = parser.read() as string[] | null) rows.push(row);
  return rows;
}

/**
 * `offset` is the position of the parser before these rows. A cell of several chunks belongs to the first of these
 * rows.
 */
function checkCells(rows: string[][], offset: number): void {
  for (const row of rows) {
    for (const cell of row) {
      // No character takes more than three bytes for each UTF-16 unit.
      if (cell.length * 3 > MAX_CELL_BYTES && Buffer.byteLength(cell) > MAX_CELL_BYTES) {
        throw new CsvFault(`has a cell larger than ${MAX_CELL_BYTES / MIB} MiB`, offset);
      }
    }
  }
}

function asFault(error: unknown): unknown {
  if (!(error instanceof CsvError)) return error;
  const { bytes, record } = error as unknown as { bytes: number; record?: string[] };
  if (record) {
    const newlines = record.reduce((sum, cell) => sum + (cell.includes('\n') ? cell.split('\n').length - 1 : 0), 0);
    return new CsvFault(`has ${fields(record.length)} and the header ${expectedOf(error)}`, bytes - 1, newlines);
  }
  const fault = FAULTS[error.code];
  return fault ? new CsvFault(fault, bytes) : error;
}

const fields = (count: number): string => (count === 1 ? '1 field' : `${count} fields`);

/** Parses the message `Invalid Record Length: expect 4, got 3 on line 7`. */
const expectedOf = (error: CsvError): string => /expect (\d+)/.exec(error.message)![1]!;

/** Returns the number of the line, from 1, that contains the byte at `offset`. */
async function lineOf(file: ByteSource, offset: number): Promise<number> {
  let line = 1;
  let left = offset;
  for await (const chunk of chunksOf(file, CHUNK_BYTES)) {
    const before = chunk.subarray(0, Math.max(left, 0));
    for (let at = before.indexOf(NEWLINE); at >= 0; at = before.indexOf(NEWLINE, at + 1)) line += 1;
    left -= chunk.length;
    if (left <= 0) break;
  }
  return line;
}

/** A fault in a CSV file that makes the whole file invalid. */
class CsvFault extends Error {
  constructor(
    /** The problem, for the message "line 7 ...". */
    problem: string,
    /** Offset of a byte in the line that the message names. */
    readonly offset: number,
    /** Number of lines between the beginning of the row and that line. */
    readonly linesBefore = 0,
  ) {
    super(problem);
  }
}

const UTF16 = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/** Checks that the bytes of a file are UTF-8 text without NUL, and cuts the chunks between characters. */
class TextCheck {
  private rest: Buffer = Buffer.alloc(0);
  private offset = 0;

  /** Returns the complete characters. Throws CsvFault for anything else. */
  next(chunk: Buffer): Buffer {
    const bytes = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    if (this.offset === 0 && UTF16.some((mark) => bytes.subarray(0, 2).equals(mark))) {
      throw new CsvFault('begins with the byte-order mark of UTF-16; save the file as UTF-8', 0);
    }
    const nul = bytes.indexOf(0);
    if (nul >= 0)
      throw new CsvFault('contains a NUL character; save the file as UTF-8, without binary data', this.offset + nul);
    const whole = bytes.length - cutOffLength(bytes);
    const text = bytes.subarray(0, whole);
    if (!isUtf8(text)) throw new CsvFault(NO_UTF8, this.offset + firstBadLine(text));
    this.rest = bytes.subarray(whole);
    this.offset += whole;
    return text;
  }

  /** Throws CsvFault if the file ends within a character. */
  end(): void {
    if (this.rest.length > 0) throw new CsvFault(NO_UTF8, this.offset);
  }
}

/**
 * Checks that every carriage return outside quotes is followed by a line feed. The parser would leave it in a cell. A quote
 * in the wrong place changes what is outside, but the parser refuses the file then.
 */
class LineEndCheck {
  private offset = 0;
  private isQuoted = false;
  /** Whether the last byte is a carriage return outside quotes. */
  private isOpen = false;

  /** Throws CsvFault. */
  next(text: Buffer): void {
    if (text.length === 0) return;
    if (this.isOpen && text[0] !== NEWLINE) throw new CsvFault(RETURN_ALONE, this.offset - 1);
    this.isOpen = false;
    let start = 0;
    for (let at = text.indexOf(RETURN); at >= 0; at = text.indexOf(RETURN, at + 1)) {
      if (text[at + 1] === NEWLINE) continue;
      this.pass(text.subarray(start, at));
      start = at;
      if (this.isQuoted) continue;
      if (at + 1 < text.length) throw new CsvFault(RETURN_ALONE, this.offset + at);
      this.isOpen = true;
    }
    this.pass(text.subarray(start));
    this.offset += text.length;
  }

  end(): void {
    if (this.isOpen) throw new CsvFault(RETURN_ALONE, this.offset - 1);
  }

  private pass(text: Buffer): void {
    for (let at = text.indexOf(QUOTE); at >= 0; at = text.indexOf(QUOTE, at + 1)) this.isQuoted = !this.isQuoted;
  }
}

const RETURN_ALONE =
  'has a carriage return without a line feed; end lines with LF or CR LF, and put a cell with a carriage return in quotes';

const NO_UTF8 = 'is not valid UTF-8; save the file as UTF-8';

/** Returns the number of bytes at the end that are the beginning of a character. */
function cutOffLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (!isContinuation) return lengthOfCharacter(byte) > back ? back : 0;
  }
  return 0;
}

const lengthOfCharacter = (first: number): number => (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1);

/**
 * Returns the start of the first line that is not UTF-8. The byte of a line break is never part of a longer character.
 */
function firstBadLine(text: Buffer): number {
  let start = 0;
  for (;;) {
    const newline = text.indexOf(NEWLINE, start);
    if (newline < 0 || !isUtf8(text.subarray(start, newline))) return start;
    start = newline + 1;
  }
}
