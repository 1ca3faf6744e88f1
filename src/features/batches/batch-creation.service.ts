import { Injectable } from '@nestjs/common';

import { Admission } from '../../blackboard/publishing/admission.js';
import { Catalog } from '../../catalog/catalog.js';
import { unknownAgent } from '../../catalog/unknown-names.js';
import { DomainError } from '../../common/domain-error.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { batchBody, batchNotFound } from './batch.js';
import { BatchDispatcher } from './batch-dispatcher.js';
import { BatchesRepository } from './batches.repository.js';
import type { BatchBody } from './dto/batch-body.js';
import { type BatchRequest, DEFAULT_WORKERS } from './dto/batch-request.js';
import type { BatchSource } from './import/batch-body.interceptor.js';
import { BatchImport } from './import/batch-import.js';
import type { BatchDraft } from './import/import-rows.js';

/** Creates batches. A batch runs one agent many times, over the rows of a list or a CSV. */
@Injectable()
export class BatchCreationService {
  constructor(
    private readonly admission: Admission,
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    private readonly batches: BatchesRepository,
    private readonly importer: BatchImport,
    private readonly dispatcher: BatchDispatcher,
  ) {}

  /**
   * Returns when the rows are checked and stored; they then run in the background. `source` has the rows that came with
   * the request. Throws DomainError `not_found`, `invalid`, `unavailable`.
   */
  async create(request: BatchRequest, id: string, source: BatchSource | undefined): Promise<BatchBody> {
    await this.admission.refuseWhenBusy();
    if (!this.catalog.agent(request.agent_name)) throw unknownAgent(request.agent_name, this.catalog.agents);
    const { reader } = this.unitOfWork;
    // A request that is repeated with its idempotency key after a crash finds the batch that it created.
    const made = await this.batches.find(reader, id);
    if (!made) await this.importRows(request, id, source);
    const batch = made ?? (await this.batches.find(reader, id));
    if (!batch) throw batchNotFound(id);
    this.dispatcher.wake(batch.seq);
    return { ...batchBody(batch), status: 'starting' };
  }

  private async importRows(request: BatchRequest, id: string, source: BatchSource | undefined): Promise<void> {
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

const draftOf = (request: BatchRequest, id: string): BatchDraft => ({
  id,
  agent: request.agent_name,
  maxWorkers: request.parallel === false ? 1 : (request.max_workers ?? DEFAULT_WORKERS),
  staticInputs: request.static_inputs ?? {},
  inputMapping: request.input_mapping ?? null,
  rowKey: request.row_key ?? null,
});
