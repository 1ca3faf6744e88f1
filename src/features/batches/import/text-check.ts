import { isUtf8 } from 'node:buffer';
import { CsvFault } from './csv-fault.js';

const NEWLINE = 10;
const UTF16 = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])];

/** Lets the bytes of a file through as long as they are text in UTF-8 without NUL, and cuts them between characters. */
export class TextCheck {
  private rest: Buffer = Buffer.alloc(0);
  private offset = 0;

  /** CsvFault for anything else. */
  next(chunk: Buffer): Buffer {
    const bytes = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    if (this.offset === 0 && UTF16.some((mark) => bytes.subarray(0, 2).equals(mark))) {
      throw new CsvFault('begins with the byte-order mark of UTF-16; save the file as UTF-8', 0);
    }
    const nul = bytes.indexOf(0);
    if (nul >= 0) throw new CsvFault('holds a NUL character; save the file as UTF-8, without binary data', this.offset + nul);
    const whole = bytes.length - cutOffLength(bytes);
    const text = bytes.subarray(0, whole);
    if (!isUtf8(text)) throw new CsvFault(NO_UTF8, this.offset + firstBadLine(text));
    this.rest = bytes.subarray(whole);
    this.offset += whole;
    return text;
  }

  /** CsvFault where the file ends within a character. */
  end(): void {
    if (this.rest.length > 0) throw new CsvFault(NO_UTF8, this.offset);
  }
}

const NO_UTF8 = 'is not valid UTF-8; save the file as UTF-8';

/** How many bytes at the end are the beginning of a character. */
function cutOffLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    const isContinuation = (byte & 0xc0) === 0x80;
    if (!isContinuation) return lengthOfCharacter(byte) > back ? back : 0;
  }
  return 0;
}

const lengthOfCharacter = (first: number): number => (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1);

/** Where the first line begins that is no UTF-8: no character of several bytes holds the byte of a line break. */
function firstBadLine(text: Buffer): number {
  let start = 0;
  for (;;) {
    const newline = text.indexOf(NEWLINE, start);
    if (newline < 0 || !isUtf8(text.subarray(start, newline))) return start;
    start = newline + 1;
  }
}
