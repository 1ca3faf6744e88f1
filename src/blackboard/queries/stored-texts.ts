import { Injectable } from '@nestjs/common';

import { DomainError } from '../../common/domain-error.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import { TextInParts, type TextPart } from '../../common/text-in-parts.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { consumptionsOf } from './consumption-rows.js';
import { HeldText } from './held-text.js';
import {
  addStored,
  groupsOf,
  type Item,
  type Piece,
  quoted,
  sizeOf,
  type StoredItems,
  textAtHand,
} from './stored-pieces.js';
import { artifactText, findPayloads, findSizes, findWhole, isWhole, type WireRow } from './wire-rows.js';

/** Finds rows after a place, in order, with texts of up to `most` bytes. */
export type FindRows<Row = WireRow> = (after: number, limit: number, most: number) => Promise<Row[]>;

/** The first query reads small texts together with their rows, because most answers need no more rows. */
const FIRST_ROWS = 64;
const MOST_IN_FIRST = 4 * 1_024;

/** Rows per later query, which reads no texts. */
const LATER_ROWS = 1_000;

/** Builds texts of stored artifacts. It reads a few artifacts at a time and does not parse them. */
@Injectable()
export class StoredTexts {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly memory: MemoryBudget,
  ) {}

  /** Builds an answer that is refused if the memory budget has no room for its first part. */
  of(pieces: readonly Piece[]): StoredText {
    return new StoredText(pieces, () => this.parts(pieces, false));
  }

  /**
   * Builds the answer to a request that has already taken effect. It waits for memory, because a client that is refused
   * would repeat the request. `isFinal`: see StoredText.
   */
  ofEffect(pieces: readonly Piece[], { isFinal = true } = {}): StoredText {
    return new StoredText(pieces, () => this.parts(pieces, true), isFinal);
  }

  /** Builds an answer whose content is not known in advance. `make` is called each time that the answer is sent. */
  lazy(make: () => AsyncIterable<Piece>, contentType?: string): TextInParts {
    return new LazyText(() => this.parts(make(), false), contentType);
  }

  /** Turns rows into items of a list. Large artifacts are read when they are sent. */
  async items(rows: readonly WireRow[], show: 'artifacts' | 'consumed' = 'artifacts'): Promise<Item[]> {
    const items: Item[] = [];
    await this.append(items, rows, show);
    return items;
  }

  /** Like `items`, for a long list of rows. `placeOf` returns the place after which `find` continues. */
  async itemsAlong<Row extends WireRow>(
    find: FindRows<Row>,
    after: number,
    isWanted: (row: Row) => boolean = () => true,
    placeOf: (row: Row) => number = ({ seq }) => seq,
  ): Promise<Item[]> {
    const items: Item[] = [];
    for await (const rows of pagesOf(find, after, placeOf))
      await this.append(items, rows.filter(isWanted), 'artifacts');
    return items;
  }

  private async append(items: Item[], rows: readonly WireRow[], show: 'artifacts' | 'consumed'): Promise<void> {
    const more = show === 'consumed' ? await this.consumptions(rows.filter(isWhole)) : undefined;
    const sizes = rows.every(isWhole) ? undefined : await this.sizes(rows);
    for (const row of rows) {
      if (isWhole(row)) items.push(artifactText(row, more?.(row.seq)));
      else addStored(items, show, row.seq, sizes!.get(row.seq) ?? 0);
    }
  }

  /** Yields the parts of a text. The pieces may be made while it is sent. */
  async *parts(pieces: Iterable<Piece> | AsyncIterable<Piece>, isPatient: boolean): AsyncGenerator<TextPart, void> {
    const held = new HeldText(this.memory, isPatient);
    try {
      for await (const piece of pieces) {
        held.beginList();
        for (const group of groupsOf(piece)) {
          if (!held.hasRoomFor(sizeOf(group))) {
            yield await held.next();
            held.release();
          }
          if (typeof group === 'string') held.add(group);
          else for (const text of await this.read(group, held)) held.add(text);
        }
      }
      yield held.last();
    } finally {
      held.release();
    }
  }

  private async read(items: StoredItems, held: HeldText): Promise<string[]> {
    await held.reserve(sizeOf(items));
    await yieldToEventLoop();
    if (items.show === 'payloads') return this.payloads(items.seqs);
    if (items.show === 'cells') return (await this.payloads(items.seqs)).map(quoted);
    return this.artifacts(items);
  }

  /** Leaves out what retention has deleted meanwhile, as if the answer had started later. */
  private async artifacts({ show, seqs }: StoredItems): Promise<string[]> {
    const found = new Map((await findWhole(this.unitOfWork.reader, {}, seqs)).map((row) => [row.seq, row]));
    const rows = seqs.flatMap((seq) => found.get(seq) ?? []);
    const more = show === 'consumed' ? await this.consumptions(rows) : undefined;
    return rows.map((row) => artifactText(row, more?.(row.seq)));
  }

  /** A payload has no id next to it, so leaving one out would silently change the answer. */
  private async payloads(seqs: readonly number[]): Promise<string[]> {
    const found = new Map(
      (await findPayloads(this.unitOfWork.reader, {}, seqs)).map(({ seq, payload }) => [seq, payload]),
    );
    if (seqs.some((seq) => !found.has(seq)))
      throw new DomainError('unavailable', 'Retention has deleted artifacts of this answer; send the request again');
    return seqs.map((seq) => found.get(seq)!);
  }

  private consumptions(rows: readonly WireRow[]): Promise<(seq: number) => string> {
    return consumptionsOf(
      this.unitOfWork.reader,
      rows.map(({ seq }) => seq),
    );
  }

  private async sizes(rows: readonly WireRow[]): Promise<ReadonlyMap<number, number>> {
    const missing = rows.filter((row) => !isWhole(row)).map(({ seq }) => seq);
    return new Map((await findSizes(this.unitOfWork.reader, {}, missing)).map(({ seq, bytes }) => [seq, bytes]));
  }
}

/** Yields the rows of a long list in pages. `placeOf` returns the place after which `find` continues. */
export async function* pagesOf<Row>(
  find: FindRows<Row>,
  after: number,
  placeOf: (row: Row) => number,
): AsyncGenerator<Row[], void> {
  let rows = await find(after, FIRST_ROWS, MOST_IN_FIRST);
  yield rows;
  for (let asked = FIRST_ROWS; rows.length === asked; yield rows) {
    await yieldToEventLoop();
    asked = LATER_ROWS;
    rows = await find(placeOf(rows.at(-1)!), asked, 0);
  }
}

/** A text in pieces. Stored pieces take no memory until they are sent. */
export class StoredText extends TextInParts {
  readonly atHand: string | null;

  constructor(
    readonly pieces: readonly Piece[],
    readonly parts: () => AsyncGenerator<TextPart, void>,
    /** False if the same request gets another answer later. */
    readonly isFinal = true,
  ) {
    super();
    this.atHand = textAtHand(pieces);
  }
}

class LazyText extends TextInParts {
  readonly atHand = null;

  constructor(
    readonly parts: () => AsyncGenerator<TextPart, void>,
    contentType?: string,
  ) {
    super(contentType);
  }
}
