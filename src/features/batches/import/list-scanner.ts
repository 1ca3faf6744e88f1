import { BadRequestException, PayloadTooLargeException } from '@nestjs/common';

import { CollectedBytes } from '../../../http/bodies/collected-bytes.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Receives the beginning of a list and each of its items. The scanner does not check that items are valid JSON. */
export interface ListParts {
  list(): void;
  item(json: Buffer): void;
}

export interface ScanLimits {
  /** Maximum size of one item in bytes. */
  item: number;
  /** Maximum size of everything except the items, in bytes. */
  rest: number;
}

/**
 * Splits the text of a JSON object, as it arrives, into the items of its list `field` and the rest, in which that list
 * is empty. It recognises strings and brackets; `JSON.parse` of the parts checks everything else. Libraries were
 * rejected: stream-json states that it is not for hostile input; @streamparser/json bounds neither depth nor size, and
 * takes three times as long as this scanner with `JSON.parse` for each item.
 */
export class ListScanner {
  private readonly rest = new CollectedBytes();
  private readonly piece = new CollectedBytes();
  private place: 'outside' | 'between items' | 'in an item' = 'outside';
  private wanted: 'item or end' | 'item' | 'comma or end' = 'item or end';
  private items = 0;

  /** Number of open brackets, outside the list or in the item. */
  private depth = 0;
  private isInText = false;
  private isEscaped = false;
  /** Whether the item is neither an object, a list nor a string. */
  private isBare = false;

  /** Position in the rest of the last string on the object's first level. It is a key if a colon follows. */
  private lastText = { from: 0, to: 0 };
  private isValueNext = false;

  constructor(
    private readonly field: string,
    private readonly limits: ScanLimits,
    private readonly parts: ListParts,
  ) {}

  /** Bytes of memory for the rest and the incomplete item. */
  get heldBytes(): number {
    return this.rest.capacity + this.piece.capacity;
  }

  write(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.place === 'outside') at = this.readOutside(chunk, at);
      else if (this.place === 'between items') at = this.readBetween(chunk, at);
      else at = this.readItem(chunk, at);
    }
  }

  /** Returns the rest. Throws 400 if the text ends within the list. */
  end(): Buffer {
    if (this.place !== 'outside') throw this.malformed('its end is missing');
    return this.rest.takeAll();
  }

  private readOutside(chunk: Buffer, from: number): number {
    const before = this.rest.size - from;
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.isInText) {
        this.readText(byte);
        if (!this.isInText && this.depth === 1) this.lastText.to = before + at + 1;
      } else if (byte === OPEN_LIST && this.depth === 1 && this.isValueNext) {
        this.keep(chunk.subarray(from, at + 1));
        if (this.isFieldNext()) return this.beginList(at + 1);
        this.depth += 1;
        return at + 1;
      } else this.readOutsideText(byte, before + at);
    }
    this.keep(chunk.subarray(from));
    return chunk.length;
  }

  private readOutsideText(byte: number, position: number): void {
    if (byte === QUOTE) {
      this.isInText = true;
      if (this.depth === 1) this.lastText.from = position;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) this.depth -= 1;
    else if (this.depth === 1 && byte === COLON) this.isValueNext = true;
    else if (this.depth === 1 && byte === COMMA) this.isValueNext = false;
  }

  private isFieldNext(): boolean {
    const key = this.rest.slice(this.lastText.from, this.lastText.to).toString('utf8');
    try {
      return JSON.parse(key) === this.field;
    } catch {
      // The parser of the rest reports the error.
      return false;
    }
  }

  private beginList(at: number): number {
    this.place = 'between items';
    this.wanted = 'item or end';
    this.items = 0;
    this.parts.list();
    return at;
  }

  private readBetween(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length && chunk[at]! <= SPACE) at++;
    if (at === chunk.length) return at;
    const byte = chunk[at]!;
    if (byte === CLOSE_LIST && this.wanted !== 'item') return this.endList(chunk, at);
    if (byte === COMMA && this.wanted === 'comma or end') {
      this.wanted = 'item';
      return at + 1;
    }
    if (this.wanted === 'comma or end') throw this.malformed(`a comma is missing after item ${this.items - 1}`);
    if (byte === COMMA || byte === CLOSE_LIST) throw this.malformed(`item ${this.items} is missing`);
    this.place = 'in an item';
    this.depth = 0;
    this.isBare = byte !== OPEN_OBJECT && byte !== OPEN_LIST && byte !== QUOTE;
    return at;
  }

  private endList(chunk: Buffer, at: number): number {
    this.keep(chunk.subarray(at, at + 1));
    this.place = 'outside';
    this.depth = 1;
    this.isValueNext = false;
    return at + 1;
  }

  private readItem(chunk: Buffer, from: number): number {
    const end = this.isBare ? endOfBare(chunk, from) : this.endOfItem(chunk, from);
    const part = chunk.subarray(from, end < 0 ? chunk.length : end);
    if (this.piece.size + part.length > this.limits.item) {
      throw new PayloadTooLargeException(`${this.field}[${this.items}]: is larger than ${this.limits.item} bytes`);
    }
    if (end < 0) {
      this.piece.add(part);
      return chunk.length;
    }
    this.items += 1;
    this.place = 'between items';
    this.wanted = 'comma or end';
    this.parts.item(this.whole(part));
    return end;
  }

  private whole(last: Buffer): Buffer {
    if (this.piece.size === 0) return last;
    this.piece.add(last);
    return this.piece.takeAll();
  }

  /** Returns the position after the item's last byte, or -1 if that byte is not in the chunk. */
  private endOfItem(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.isInText) {
        this.readText(byte);
        if (!this.isInText && this.depth === 0) return at + 1;
      } else if (byte === QUOTE) this.isInText = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) this.depth += 1;
      else if ((byte === CLOSE_OBJECT || byte === CLOSE_LIST) && --this.depth === 0) return at + 1;
    }
    return -1;
  }

  private readText(byte: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (byte === BACKSLASH) this.isEscaped = true;
    else if (byte === QUOTE) this.isInText = false;
  }

  private keep(part: Buffer): void {
    if (this.rest.size + part.length > this.limits.rest) {
      throw new PayloadTooLargeException(
        `The body is larger than ${this.limits.rest} bytes without the items of ${this.field}`,
      );
    }
    if (part.length > 0) this.rest.add(part);
  }

  private malformed(problem: string): Error {
    return new BadRequestException(`The body is not valid JSON: ${this.field}: ${problem}`);
  }
}

function endOfBare(chunk: Buffer, from: number): number {
  for (let at = from; at < chunk.length; at++) {
    const byte = chunk[at]!;
    if (byte === COMMA || byte === CLOSE_LIST || byte <= SPACE) return at;
  }
  return -1;
}
