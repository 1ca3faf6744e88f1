import { Injectable } from '@nestjs/common';

import { yieldToEventLoop } from '../../common/event-loop.js';
import type { MemoryReservation } from '../../common/memory-budget.js';
import { parsedSize } from '../../common/parsed-size.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { AgentArtifact } from '../../engines/engine.js';
import { agentArtifactFromRow } from '../artifacts/artifact.js';
import type { ExecutionInput } from '../artifacts/execution-input.js';
import { groupsOfStored, sizeOf, type StoredItems } from '../queries/stored-pieces.js';
import { findPayloads } from '../queries/wire-rows.js';
import { InputMemory } from './input-memory.js';

/** Bytes per character for engines that send inputs on: they serialize and encode them once more, two bytes each. */
const COPIES = 4;
/** The least bytes of memory per byte of text, for the text and its parsed value. */
const LEAST_TIMES = COPIES + 2;
/** While a text is measured, the text and its encoded bytes are in memory. */
const COPIES_TO_MEASURE = 3;

const MIB = 1_024 ** 2;

/** The inputs of an execution. They keep their reserved memory until `release`. */
export interface HeldInputs {
  artifacts: AgentArtifact[];
  release(): void;
}

/** The inputs are larger than the whole memory for inputs. */
export class InputsTooLarge extends Error {}

/** Reads and parses the inputs of claimed executions within the memory for inputs. */
@Injectable()
export class InputParsing {
  constructor(
    private readonly memory: InputMemory,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Parses the inputs immediately. Null if one of them is large or the budget has no room now. */
  now(inputs: readonly ExecutionInput[]): HeldInputs | null {
    let bytes = 0;
    for (const { payload } of inputs) {
      if (payload === null) return null;
      bytes += estimate(payload);
    }
    const reservation = this.memory.reserveNow(bytes);
    return (
      reservation &&
      held(
        inputs.map((input) => agentArtifactFromRow(input, input.payload!)),
        reservation,
      )
    );
  }

  /**
   * Waits for room, then parses the inputs. Rejects with the signal's reason, with InputsTooLarge, or with DomainError
   * `unavailable` if the database cannot be read now.
   */
  async whenFree(inputs: readonly ExecutionInput[], signal: AbortSignal): Promise<HeldInputs> {
    // An execution that waits keeps no payloads in memory.
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
   * Returns the bytes that the parsed inputs take. It reads them once, a few at a time. Reserving the worst case of
   * their size was rejected: it is twenty times what most inputs need. Reserving step by step was rejected too: two
   * executions that each have some memory could wait for each other forever.
   */
  private async measure(inputs: readonly ExecutionInput[], signal: AbortSignal): Promise<number> {
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

  private async parse(inputs: readonly ExecutionInput[], signal: AbortSignal): Promise<AgentArtifact[]> {
    const artifacts: AgentArtifact[] = [];
    for (const group of groupsOfStored(storedItems(inputs))) {
      for (const text of await this.texts(group)) artifacts.push(agentArtifactFromRow(inputs[artifacts.length]!, text));
      signal.throwIfAborted();
    }
    return artifacts;
  }

  private async texts({ seqs }: StoredItems): Promise<string[]> {
    await yieldToEventLoop();
    const found = new Map(
      (await findPayloads(this.unitOfWork.reader, {}, seqs)).map(({ seq, payload }) => [seq, payload]),
    );
    return seqs.map((seq) => found.get(seq) ?? isGone(seq));
  }

  private refuseTooLarge(bytes: number, orMore = ''): void {
    const { largestBytes } = this.memory;
    if (bytes <= largestBytes) return;
    const [wanted, most, budget] = [
      Math.ceil(bytes / MIB),
      Math.floor(largestBytes / MIB),
      Math.ceil(this.memory.budgetFor(bytes) / MIB),
    ];
    throw new InputsTooLarge(
      `its inputs need ${orMore}${wanted} MiB of memory, but memory_budget allows ${most} MiB for the inputs of one execution; raise it to ${orMore}${budget} MiB`,
    );
  }
}

/** The approximate bytes that a payload takes while an execution runs. */
const estimate = (text: string): number => parsedSize(Buffer.from(text)) + COPIES * text.length;

const held = (artifacts: AgentArtifact[], reservation: MemoryReservation): HeldInputs => ({
  artifacts,
  release: () => reservation.release(),
});

const storedItems = (inputs: readonly ExecutionInput[]): StoredItems => ({
  show: 'payloads',
  seqs: inputs.map(({ seq }) => seq),
  bytes: inputs.map(({ payload_bytes }) => payload_bytes),
});

function isGone(seq: number): never {
  throw new Error(`the artifact at position ${seq} is missing, although a running execution consumes it`);
}
