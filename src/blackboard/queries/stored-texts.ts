import { Injectable } from '@nestjs/common';
import { DomainError } from '../../common/domain-error.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import { TextInParts, type TextPart } from '../../common/text-in-parts.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { consumptionsOf } from './consumptions.js';
import { HeldText } from './held-text.js';
import { addStored, groupsOf, type Item, type Piece, quoted, sizeOf, type StoredItems, textAtHand } from './stored-pieces.js';
import { artifactText, findPayloads, findSizes, findWhole, isWhole, type WireRow } from './wire-rows.js';

/** Rows behind a place, in order, with texts of up to `most` bytes. */
export type FindRows<Row extends WireRow = WireRow> = (after: number, limit: number, most: number) => Promise<Row[]>;

/** With their texts, where these are small: a query's first rows are all that most answers show. */
const FIRST_ROWS = 64;
const MOST_IN_FIRST = 4 * 1_024;

/** Those behind them, of which nothing but the size is read yet. */
const LATER_ROWS = 1_000;

/** Makes texts of stored artifacts, a few at a time, without parsing what they hold. */
@Injectable()
export class StoredTexts {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly memory: MemoryBudget,
  ) {}

  /** For an answer that may be refused if the budget has no room for its first part. */
  of(pieces: readonly Piece[]): StoredText {
    return new StoredText(pieces, () => this.parts(pieces, false));
  }

  /** For the answer to a request that has had its effect: it waits for memory, because a client that is refused would send the request again. */
  ofEffect(pieces: readonly Piece[]): StoredText {
    return new StoredText(pieces, () => this.parts(pieces, true));
  }

  /** For an answer that is made of more than is known when it begins; `make` is called for each time that it is sent. */
  lazy(make: () => AsyncIterable<Piece>, contentType?: string): TextInParts {
    return new LazyText(() => this.parts(make(), false), contentType);
  }

  /** Rows as items of a list; what is large of them is read when its turn comes. */
  async items(rows: readonly WireRow[], show: 'artifacts' | 'consumed' = 'artifacts'): Promise<Item[]> {
    const more = show === 'consumed' ? await this.consumptions(rows.filter(isWhole)) : undefined;
    const sizes = rows.every(isWhole) ? undefined : await this.sizes(rows);
    const items: Item[] = [];
    for (const row of rows) {
      if (isWhole(row)) items.push(artifactText(row, more?.(row.seq)));
      else addStored(items, show, row.seq, sizes!.get(row.seq) ?? 0);
    }
    return items;
  }

  /** The same of rows of which there may be many. `placeOf` says what `find` goes on behind. */
  async itemsAlong<Row extends WireRow>(
    find: FindRows<Row>,
    after: number,
    isWanted: (row: Row) => boolean = () => true,
    placeOf: (row: Row) => number = ({ seq }) => seq,
  ): Promise<Item[]> {
    let rows = await find(after, FIRST_ROWS, MOST_IN_FIRST);
    const items = await this.items(rows.filter(isWanted));
    for (let asked = FIRST_ROWS; rows.length === asked; ) {
      await yieldToEventLoop();
      asked = LATER_ROWS;
      rows = await find(placeOf(rows.at(-1)!), asked, 0);
      const wanted = rows.filter(isWanted);
      const sizes = await this.sizes(wanted);
      for (const { seq } of wanted) addStored(items, 'artifacts', seq, sizes.get(seq) ?? 0);
    }
    return items;
  }

  /** The parts of a text whose pieces are themselves made as they are needed. */
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

  /** Retention may have deleted some meanwhile, as if the answer had begun later. */
  private async artifacts({ show, seqs }: StoredItems): Promise<string[]> {
    const found = new Map((await findWhole(this.unitOfWork.reader, {}, seqs)).map((row) => [row.seq, row]));
    const rows = seqs.flatMap((seq) => found.get(seq) ?? []);
    const more = show === 'consumed' ? await this.consumptions(rows) : undefined;
    return rows.map((row) => artifactText(row, more?.(row.seq)));
  }

  /** A payload stands for itself, so that leaving one out would say something else. */
  private async payloads(seqs: readonly number[]): Promise<string[]> {
    const found = new Map((await findPayloads(this.unitOfWork.reader, {}, seqs)).map(({ seq, payload }) => [seq, payload]));
    if (seqs.some((seq) => !found.has(seq))) throw new DomainError('unavailable', 'Retention has deleted what this answer shows; ask again');
    return seqs.map((seq) => found.get(seq)!);
  }

  private consumptions(rows: readonly WireRow[]): Promise<(seq: number) => string> {
    return consumptionsOf(this.unitOfWork.reader, rows.map(({ seq }) => seq));
  }

  private async sizes(rows: readonly WireRow[]): Promise<ReadonlyMap<number, number>> {
    const missing = rows.filter((row) => !isWhole(row)).map(({ seq }) => seq);
    return new Map((await findSizes(this.unitOfWork.reader, {}, missing)).map(({ seq, bytes }) => [seq, bytes]));
  }
}

/** A text in pieces, of which those that are stored need no memory until they are sent. */
export class StoredText extends TextInParts {
  readonly atHand: string | null;

  constructor(
    readonly pieces: readonly Piece[],
    readonly parts: () => AsyncGenerator<TextPart, void>,
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
