import { Injectable } from '@nestjs/common';

import { Processes } from '../../blackboard/processes/processes.js';
import { Admission } from '../../blackboard/publishing/admission.js';
import { Catalog } from '../../catalog/catalog.js';
import { unknownAgent } from '../../catalog/unknown-names.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import type { TextInParts } from '../../common/text-in-parts.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { RunsService } from '../runs/runs.service.js';
import { batchBody, type BatchRow, listedBatchBody } from './batch.js';
import { BatchDispatcher } from './batch-dispatcher.js';
import { BatchEvents } from './batch-events.js';
import { BatchResults } from './batch-results.js';
import { BatchesRepository } from './batches.repository.js';
import type { BatchBody } from './dto/batch-body.js';
import type { BatchListBody } from './dto/batch-list-body.js';
import type { BatchListQuery } from './dto/batch-list-query.js';
import { type BatchRequest, DEFAULT_WORKERS } from './dto/batch-request.js';
import type { BatchResultsQuery } from './dto/batch-results-query.js';
import { type BatchDraft, BatchImport } from './import/batch-import.js';
import type { BatchSource } from './import/batch-source.js';
import type { ResultsFormat } from './results-text.js';
import { WaitingBytes, waitingBytes } from './waiting-bytes.js';

const NO_RESULTS: BatchBody['results'] = [];

/** Batches run one agent many times, over the rows of a list or a CSV. */
@Injectable()
export class BatchesService {
  constructor(
    private readonly admission: Admission,
    private readonly processes: Processes,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly batches: BatchesRepository,
    private readonly importer: BatchImport,
    private readonly dispatcher: BatchDispatcher,
    private readonly results: BatchResults,
    private readonly events: BatchEvents,
    private readonly runs: RunsService,
    private readonly waiting: WaitingBytes,
  ) {}

  /** `source` has the rows that came with the request. Throws DomainError `not_found`, `invalid`, `unavailable`. */
  async create(request: BatchRequest, id: string, source: BatchSource | undefined): Promise<BatchBody> {
    await this.admission.refuseWhenBusy();
    if (!this.catalog.agent(request.agent_name)) throw unknownAgent(request.agent_name);
    // A request that is repeated with its idempotency key after a crash finds the batch that it created.
    const made = await this.batches.find(this.unitOfWork.reader, id);
    if (!made) await this.takeIn(request, id, source);
    const batch = made ?? (await this.get(id));
    this.dispatcher.wake(batch.seq);
    return { ...batchBody(batch, NO_RESULTS), status: 'starting' };
  }

  /** Returns a BatchBody as JSON. Throws DomainError `not_found`. */
  async show(id: string, query: BatchResultsQuery): Promise<TextInParts> {
    const page = { status: query.results_status ?? null, limit: query.results_limit, offset: query.results_offset };
    const batch = await this.get(id);
    const waits = batch.status === 'running' && !(await this.processes.known()).hasAgent(batch.agent);
    return this.results.show(batch, page, waits ? [batch.agent] : []);
  }

  /** Returns all results. Throws DomainError `not_found`. */
  async stream(id: string, format: ResultsFormat): Promise<TextInParts> {
    return this.results.stream(await this.get(id), format);
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

  /** Throws DomainError `not_found`, or `conflict` where it has ended. */
  async cancel(id: string): Promise<BatchBody> {
    await this.unitOfWork.run(async (tx) => {
      // Locks runs before their batch, as the end of a run does. The second call cancels runs that were begun
      // meanwhile.
      if ((await this.batches.find(tx.db, id))?.status === 'running') await this.runs.cancelBatch(tx, id);
      const batch = await this.batches.hold(tx, id);
      if (!batch) throw notFound(id);
      if (batch.status !== 'running')
        throw new DomainError('conflict', `Batch ${id} has already ended (${batch.status}) and cannot be cancelled`);
      this.waiting.changed(tx, -waitingBytes(batch));
      await this.batches.end(tx, batch.seq, 'cancelled', this.clock.now(), null);
      await this.runs.cancelBatch(tx, id);
      if (batch.round > 0) await this.batches.recountFailed(tx, batch.seq);
      await this.events.changed(tx, batch.seq);
    });
    return batchBody(await this.get(id), NO_RESULTS);
  }

  /**
   * Throws DomainError `not_found`, `conflict` where it is running or has no failed items, or `unavailable` where too
   * many rows wait.
   */
  async retryFailed(id: string): Promise<BatchBody> {
    const seq = await this.unitOfWork.run(async (tx) => {
      const batch = await this.batches.hold(tx, id);
      if (!batch) throw notFound(id);
      if (batch.status === 'running')
        throw new DomainError('conflict', `Batch ${id} is still running; retry its failed items when it has ended`);
      if (batch.failed_items === 0) throw new DomainError('conflict', `Batch ${id} has no failed items`);
      // The new runs will store their inputs again.
      this.waiting.refuseExcess(batch.stored_bytes);
      this.waiting.changed(tx, batch.stored_bytes);
      await this.batches.reopen(tx, batch);
      await this.events.changed(tx, batch.seq);
      return batch.seq;
    });
    const batch = await this.get(id);
    this.dispatcher.wake(seq);
    return batchBody(batch, NO_RESULTS);
  }

  private async get(id: string): Promise<BatchRow> {
    const batch = await this.batches.find(this.unitOfWork.reader, id);
    if (!batch) throw notFound(id);
    return batch;
  }

  private async takeIn(request: BatchRequest, id: string, source: BatchSource | undefined): Promise<void> {
    const { batch_inputs: inputs, delimiter = ',' } = request;
    const draft = draftOf(request, id);
    if (source && 'file' in source) {
      if (inputs !== undefined)
        throw new DomainError('invalid', 'batch_inputs: must be absent when a file is uploaded');
      await this.importer.fromUpload(draft, source.file, delimiter);
    } else if (source) await this.importer.fromList(draft, source.items);
    else if (typeof inputs === 'string') await this.importer.fromPath(draft, inputs, delimiter);
    else throw new DomainError('invalid', 'batch_inputs: must be a list of objects, or the path of a CSV file');
  }
}

const notFound = (id: string): DomainError => new DomainError('not_found', `Batch not found: ${id}`);

const draftOf = (request: BatchRequest, id: string): BatchDraft => ({
  id,
  agent: request.agent_name,
  maxWorkers: request.parallel === false ? 1 : (request.max_workers ?? DEFAULT_WORKERS),
  staticInputs: request.static_inputs ?? {},
  inputMapping: request.input_mapping ?? null,
  rowKey: request.row_key ?? null,
});
