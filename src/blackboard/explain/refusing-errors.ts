import { Injectable } from '@nestjs/common';

import { WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import type { MemoryReservation } from '../../common/memory-budget.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { NO_FILTER } from '../queries/artifact-filter.js';
import { routesOf, spanOf } from '../queries/artifact-paths.js';
import { narrowest } from '../queries/narrowest-route.js';
import { windows } from '../queries/path-rows.js';
import { groupsOfStored, sizeOf } from '../queries/stored-pieces.js';
import { findPayloads } from '../queries/wire-rows.js';
import { findErrorsWithoutExecution, type StoredError } from './records.repository.js';

/** A WorkflowError that says why an agent was not run: a limit, an expired join, or a subscription that was removed. */
export interface RefusingError {
  id: string;
  agent: string;
  errorType: 'limit' | 'join_expired' | 'agent_removed';
  message: string;
  /** True if it names the artifact in question. */
  namesArtifact: boolean;
}

interface ErrorPayload {
  failed_agent: string;
  error_type: RefusingError['errorType'];
  error_message: string;
  input_artifact_ids: string[];
}

/** Steps per query. */
const WINDOW = 250;

/**
 * Memory for a payload, in multiples of its stored bytes: its text, and what is parsed from it, which consists mostly
 * of ids.
 */
const TIMES_STORED = 4;

/** Bytes of memory for an error that was found, without its message. */
const BYTES_OF_ERROR = 512;

/** Finds the WorkflowErrors of a correlation that belong to no execution. */
@Injectable()
export class RefusingErrors {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /**
   * Returns the errors that name the artifact and all `limit` errors, because only the first artifact that a limit
   * refused is named. `held` grows by the size of the result and, while payloads are read, by theirs: each may name
   * thousands of artifacts. Throws DomainError `unavailable`.
   */
  async of(artifactId: string, correlationId: string, held: MemoryReservation): Promise<RefusingError[]> {
    const { reader } = this.unitOfWork;
    const { paths, rest } = await narrowest(reader, routesOf({ ...NO_FILTER, types: [WORKFLOW_ERROR], correlationId }));
    const found: RefusingError[] = [];
    for (const path of paths) {
      for await (const window of windows(reader, path, spanOf(path), WINDOW)) {
        const rows = await findErrorsWithoutExecution(reader, path, window, rest);
        found.push(...(await this.read(rows, artifactId, held)));
      }
    }
    return found;
  }

  private async read(
    rows: readonly StoredError[],
    artifactId: string,
    held: MemoryReservation,
  ): Promise<RefusingError[]> {
    const ids = new Map(rows.map(({ seq, id }) => [seq, id]));
    const found: RefusingError[] = [];
    for (const group of groupsOfStored({
      show: 'payloads',
      seqs: rows.map(({ seq }) => seq),
      bytes: rows.map(({ bytes }) => bytes),
    })) {
      const before = held.bytes;
      held.grow(TIMES_STORED * sizeOf(group));
      await yieldToEventLoop();
      const payloads = new Map(
        (await findPayloads(this.unitOfWork.reader, {}, group.seqs)).map(({ seq, payload }) => [seq, payload]),
      );
      const errors = group.seqs.flatMap((seq) =>
        payloads.has(seq)
          ? refusingError(ids.get(seq)!, JSON.parse(payloads.get(seq)!) as ErrorPayload, artifactId)
          : [],
      );
      const useful = errors.filter(isOfUse);
      held.resize(before + useful.reduce((sum, { message }) => sum + BYTES_OF_ERROR + 2 * message.length, 0));
      found.push(...useful);
    }
    return found;
  }
}

const refusingError = (id: string, payload: ErrorPayload, artifactId: string): RefusingError => ({
  id,
  agent: payload.failed_agent,
  errorType: payload.error_type,
  message: payload.error_message,
  namesArtifact: payload.input_artifact_ids.includes(artifactId),
});

const isOfUse = ({ namesArtifact, errorType }: RefusingError): boolean => namesArtifact || errorType === 'limit';
