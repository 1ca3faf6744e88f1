import type { MemoryBudget, MemoryReservation } from '../../common/memory-budget.js';
import type { TextPart } from '../../common/text-in-parts.js';

/** Characters of a part, and of a text that is sent in one part. A single stored item may be larger. */
export const PART = 256 * 1_024;

/** A large item is added to the current part if that part has at most this many characters. */
const LITTLE = 16 * 1_024;

/** The string and the bytes that are encoded from it for the connection. */
const COPIES = 2;

/** Builds one part of a text and reserves its memory. */
export class HeldText {
  private text = '';
  private separator = '';
  private hasBegun = false;
  private reservation: MemoryReservation | null = null;

  /**
   * If `isPatient`, it waits for memory from the start. Otherwise it is refused memory until the first part has been
   * sent.
   */
  constructor(
    private readonly memory: MemoryBudget,
    private readonly isPatient: boolean,
  ) {}

  hasRoomFor(size: number): boolean {
    const { length } = this.text;
    if (this.reservation) return COPIES * (length + size) <= this.reservation.bytes;
    return length <= LITTLE || length + size <= PART;
  }

  /**
   * Call this before `bytes` are read. It reserves memory for a whole part in one step: two answers that each held some
   * and waited for more could deadlock. Throws DomainError `unavailable`.
   */
  async reserve(bytes: number): Promise<void> {
    if (this.reservation) return;
    const wanted = COPIES * Math.max(PART, this.text.length + bytes);
    this.reservation =
      this.isPatient || this.hasBegun ? await this.memory.whenFree(wanted) : this.memory.reserve(wanted);
  }

  /** The next item starts a list, so no comma precedes it. */
  beginList(): void {
    this.separator = '';
  }

  add(item: string): void {
    this.text += this.separator + item;
    this.separator = ',';
  }

  /**
   * Returns the text so far as a part that is not the last. Its memory is held until `release`. Throws DomainError
   * `unavailable`.
   */
  async next(): Promise<TextPart> {
    await this.reserve(0);
    this.hasBegun = true;
    return { text: this.taken(), isLast: false };
  }

  last(): TextPart {
    return { text: this.taken(), isLast: true };
  }

  release(): void {
    this.reservation?.release();
    this.reservation = null;
  }

  private taken(): string {
    const { text } = this;
    this.text = '';
    return text;
  }
}
