import { Injectable } from '@nestjs/common';

import { Processes } from '../../blackboard/processes/processes.js';
import type { TextInParts } from '../../common/text-in-parts.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { batchNotFound, type BatchRow, listedBatchBody } from './batch.js';
import { BatchFailures } from './batch-failures.js';
import { BatchResults } from './batch-results.js';
import { BatchesRepository } from './batches.repository.js';
import type { BatchResultsQuery } from './dto/batch-body.js';
import type { BatchFailuresBody } from './dto/batch-failures-body.js';
import type { BatchListBody, BatchListQuery } from './dto/batch-list.js';
import type { ResultsFormat } from './results-text.js';

/** Shows batches and their results. */
@Injectable()
export class BatchQueriesService {
  constructor(
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
    private readonly batches: BatchesRepository,
    private readonly results: BatchResults,
    private readonly failed: BatchFailures,
  ) {}

  /** Returns a BatchBody as JSON. Throws DomainError `not_found`. */
  async show(id: string, query: BatchResultsQuery): Promise<TextInParts> {
    const page = {
      status: query.results_status ?? null,
      limit: query.results_limit,
      offset: query.results_offset,
      inputs: query.results_inputs,
    };
    const batch = await this.get(id);
    const waits = batch.status === 'running' && !(await this.processes.known()).hasAgent(batch.agent);
    return this.results.show(batch, page, waits ? [batch.agent] : []);
  }

  /** Returns all results. Throws DomainError `not_found`. */
  async stream(id: string, format: ResultsFormat, inputs: boolean): Promise<TextInParts> {
    return this.results.stream(await this.get(id), format, inputs);
  }

  /** Throws DomainError `not_found`. */
  async failures(id: string): Promise<BatchFailuresBody> {
    return this.failed.list(await this.get(id));
  }

  async list(query: BatchListQuery): Promise<BatchListBody> {
    const { limit, offset } = query;
    const filter = {
      status: query.status ?? null,
      agent: query.agent ?? null,
      from: query.from ?? null,
      to: query.to ?? null,
    };
    const rows = await this.batches.list(this.unitOfWork.reader, filter, { limit, offset });
    return {
      items: rows.slice(0, limit).map(listedBatchBody),
      pagination: { limit, offset, has_more: rows.length > limit },
    };
  }

  private async get(id: string): Promise<BatchRow> {
    const batch = await this.batches.find(this.unitOfWork.reader, id);
    if (!batch) throw batchNotFound(id);
    return batch;
  }
}
