import type { MemoryBudget, MemoryReservation } from '../../common/memory-budget.js';
import type { TextPart } from '../../common/text-in-parts.js';

/** Characters of a part, and of a text that is sent as one; what is stored in one piece may be larger. */
export const PART = 256 * 1_024;

/** A large piece joins the part before it if that is shorter than this. */
const LITTLE = 16 * 1_024;

/** A string beside the bytes that are made of it for the connection. */
const COPIES = 2;

/** The part of a text that is being made, with the memory that it takes. */
export class HeldText {
  private text = '';
  private separator = '';
  private hasBegun = false;
  private reservation: MemoryReservation | null = null;

  /** `isPatient`: waits for memory from the beginning; else it is refused until the first part has been taken. */
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
   * Before `bytes` are read. Memory for a whole part is reserved in one step: two answers that each held some and waited for more could
   * wait for each other for ever. DomainError `unavailable`.
   */
  async reserve(bytes: number): Promise<void> {
    if (this.reservation) return;
    const wanted = COPIES * Math.max(PART, this.text.length + bytes);
    this.reservation = this.isPatient || this.hasBegun ? await this.memory.whenFree(wanted) : this.memory.reserve(wanted);
  }

  /** No comma comes before what is added next. */
  beginList(): void {
    this.separator = '';
  }

  add(item: string): void {
    this.text += this.separator + item;
    this.separator = ',';
  }

  /** What there is, with more to come; held until `release`. DomainError `unavailable`. */
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
