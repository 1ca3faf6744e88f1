import { Injectable } from '@nestjs/common';

import { rememberText } from '../../cel/language/json-text.js';
import type { JsonValue } from '../../common/json.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import { parsedSize } from '../../common/parsed-size.js';
import { type Reader, UnitOfWork } from '../../database/unit-of-work.js';
import type { Definition } from './definition.js';
import type { DataRow } from './experiment-rows.repository.js';
import { valueAt } from './json-pointer.js';
import { type FoundArtifact, TrialArtifactsRepository } from './trial-artifacts.repository.js';

/** A trial is scored by these. */
export interface Contents {
  input: JsonValue;
  /** Null if there is none. */
  output: JsonValue;
  outputId: string | null;
  /** Undefined if the row has none. */
  expected: JsonValue | undefined;
}

interface TrialPlace {
  definition: Definition;
  row: DataRow;
  correlationId: string;
}

/** Reads what went into a trial, and what came out. */
@Injectable()
export class TrialContents {
  constructor(
    private readonly artifacts: TrialArtifactsRepository,
    private readonly memory: MemoryBudget,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Holds the memory of the contents during `work`. DomainError `unavailable` if it is not free now. */
  async with<T>({ definition, row, correlationId }: TrialPlace, work: (contents: Contents) => Promise<T>): Promise<T> {
    const { reader } = this.unitOfWork;
    const output = await this.artifacts.output(reader, correlationId, definition.output);
    const inputText = row.inputs ?? (await this.artifacts.input(reader, correlationId))?.payload ?? 'null';
    const recorded = await this.recorded(reader, definition, row);
    const texts = [inputText, output?.payload, recorded?.payload, row.expected].filter(
      (text) => text !== undefined && text !== null,
    );
    const bytes = texts.reduce((sum, text) => sum + text.length + parsedSize(Buffer.from(text)), 0);
    // They are not refused, because then the trial would never end.
    return this.memory.during(Math.min(bytes, this.memory.largestBytes), () => {
      const input = parsed(inputText);
      return work({
        input,
        output: output ? parsed(output.payload) : null,
        outputId: output?.id ?? null,
        expected: expectedOf(definition, row, input, recorded),
      });
    });
  }

  private async recorded(
    db: Reader,
    { expected, output }: Definition,
    row: DataRow,
  ): Promise<FoundArtifact | undefined> {
    if (!expected || !('recorded' in expected) || row.origin === null) return undefined;
    return row.origin_kind === 'artifact'
      ? this.artifacts.outputBehind(db, row.origin, output)
      : this.artifacts.output(db, row.origin, output);
  }
}

function expectedOf(
  { expected }: Definition,
  row: DataRow,
  input: JsonValue,
  recorded: FoundArtifact | undefined,
): JsonValue | undefined {
  if (expected && 'path' in expected) return valueAt(input, expected.path);
  const text = row.expected ?? recorded?.payload;
  return text === undefined ? undefined : parsed(text);
}

/** Remembers the text of a large value, so that an evaluation need not make it again. */
function parsed(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue;
  if (typeof value === 'object' && value !== null) rememberText(value, text);
  return value;
}
