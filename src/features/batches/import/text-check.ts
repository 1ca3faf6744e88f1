import { isUtf8 } from 'node:buffer';

/** A fault in a CSV file that makes the whole file invalid. */
export class CsvFault extends Error {
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

const NEWLINE = 10;
const UTF16 = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/** Checks that the bytes of a file are UTF-8 text without NUL, and cuts the chunks between characters. */
export class TextCheck {
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

  /** Throws CsvFault where the file ends within a character. */
  end(): void {
    if (this.rest.length > 0) throw new CsvFault(NO_UTF8, this.offset);
  }
}

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
