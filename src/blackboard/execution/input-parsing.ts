import { Injectable } from '@nestjs/common';
import type { MemoryReservation } from '../../common/memory-budget.js';
import { parsedSize } from '../../common/parsed-size.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { AgentArtifact } from '../../engines/engine.js';
import { agentArtifactFromRow } from '../artifacts/artifact.js';
import { groupsOfStored, sizeOf, type StoredItems } from '../queries/stored-pieces.js';
import { findPayloads } from '../queries/wire-rows.js';
import type { ClaimedInput } from './claims.js';
import { InputMemory } from './input-memory.js';

/** An engine that sends a text on writes it once more and encodes it: two bytes a character each. */
const COPIES = 4;
/** No text and its value take less, for each byte. */
const LEAST_TIMES = COPIES + 2;
/** A text that is measured is in memory with its bytes. */
const COPIES_TO_MEASURE = 3;

const MIB = 1_024 ** 2;

/** The inputs of an execution, with the memory that they take until `release`. */
export interface HeldInputs {
  artifacts: AgentArtifact[];
  release(): void;
}

/** The memory for inputs has no room for these, even when nothing else is in it. */
export class InputsTooLarge extends Error {}

/** Has the inputs of claimed executions in memory only while there is room for what is parsed from them. */
@Injectable()
export class InputParsing {
  constructor(
    private readonly memory: InputMemory,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Null unless all of them are small and the budget has room for them now. */
  now(inputs: readonly ClaimedInput[]): HeldInputs | null {
    let bytes = 0;
    for (const { payload } of inputs) {
      if (payload === null) return null;
      bytes += estimate(payload);
    }
    const reservation = this.memory.reserveNow(bytes);
    return reservation && held(inputs.map((input) => agentArtifactFromRow(input, input.payload!)), reservation);
  }

  /** Waits for its turn. Rejects with the signal's reason, with InputsTooLarge, or with `unavailable` where the database cannot be read now. */
  async whenFree(inputs: readonly ClaimedInput[], signal: AbortSignal): Promise<HeldInputs> {
    // What waits holds nothing.
    for (const input of inputs) input.payload = null;
    const bytes = await this.measure(inputs, signal);
    const reservation = await this.memory.whenWithin(bytes, signal);
    try {
      return held(await this.parse(inputs, signal), reservation);
    } catch (error) {
      reservation.release();
      throw error;
    }
  }

  /**
   * Reads them once, a few at a time. Reserving for the worst that their size allows would take twenty times what most need. Two executions that each
   * held some memory and waited for more could wait for each other for ever.
   */
  private async measure(inputs: readonly ClaimedInput[], signal: AbortSignal): Promise<number> {
    const stored = storedItems(inputs);
    this.refuseTooLarge(LEAST_TIMES * sizeOf(stored), 'at least ');
    let bytes = 0;
    for (const group of groupsOfStored(stored)) {
      const reading = await this.memory.whenWithin(COPIES_TO_MEASURE * sizeOf(group), signal);
      try {
        for (const text of await this.texts(group)) bytes += estimate(text);
      } finally {
        reading.release();
      }
    }
    this.refuseTooLarge(bytes);
    return bytes;
  }

  private async parse(inputs: readonly ClaimedInput[], signal: AbortSignal): Promise<AgentArtifact[]> {
    const artifacts: AgentArtifact[] = [];
    for (const group of groupsOfStored(storedItems(inputs))) {
      for (const text of await this.texts(group)) artifacts.push(agentArtifactFromRow(inputs[artifacts.length]!, text));
      signal.throwIfAborted();
    }
    return artifacts;
  }

  private async texts({ seqs }: StoredItems): Promise<string[]> {
    await yieldToEventLoop();
    const found = new Map((await findPayloads(this.unitOfWork.reader, {}, seqs)).map(({ seq, payload }) => [seq, payload]));
    return seqs.map((seq) => found.get(seq) ?? isGone(seq));
  }

  private refuseTooLarge(bytes: number, orMore = ''): void {
    const { largestBytes } = this.memory;
    if (bytes <= largestBytes) return;
    const [wanted, most, budget] = [Math.ceil(bytes / MIB), Math.floor(largestBytes / MIB), Math.ceil(this.memory.budgetFor(bytes) / MIB)];
    throw new InputsTooLarge(
      `its inputs would take ${orMore}${wanted} MiB of memory, and memory_budget leaves ${most} MiB to the inputs of one execution; raise it to ${orMore}${budget} MiB`,
    );
  }
}

/** About how many bytes a payload takes while an execution runs. */
const estimate = (text: string): number => parsedSize(Buffer.from(text)) + COPIES * text.length;

const held = (artifacts: AgentArtifact[], reservation: MemoryReservation): HeldInputs => ({ artifacts, release: () => reservation.release() });

const storedItems = (inputs: readonly ClaimedInput[]): StoredItems => ({
  show: 'payloads',
  seqs: inputs.map(({ seq }) => seq),
  bytes: inputs.map(({ payload_bytes }) => payload_bytes),
});

function isGone(seq: number): never {
  throw new Error(`the artifact at ${seq} is gone, which a running execution consumes`);
}
