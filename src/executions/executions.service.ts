import { Injectable } from '@nestjs/common';
import { Blackboard } from '../blackboard/blackboard.js';
import { Catalog } from '../catalog/catalog.js';
import { DomainError } from '../common/domain-error.js';
import { UnitOfWork } from '../database/unit-of-work.js';
import type { ExecutionBody } from './dto/execution-body.js';
import type { ExecutionListBody } from './dto/execution-list-body.js';
import type { ExecutionListQuery } from './dto/execution-list-query.js';
import { executionBody, listedExecutionBody } from './execution.js';
import { ExecutionsRepository } from './executions.repository.js';
import { formOf } from './form.js';

/** Shows executions, and retries those that have failed. */
@Injectable()
export class ExecutionsService {
  constructor(
    private readonly blackboard: Blackboard,
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    private readonly executions: ExecutionsRepository,
  ) {}

  async list(query: ExecutionListQuery): Promise<ExecutionListBody> {
    const { limit, offset } = query;
    const filter = { state: query.state ?? null, agent: query.agent ?? null, correlationId: query.correlation_id ?? null, assignee: query.assignee ?? null };
    const rows = await this.executions.list(this.unitOfWork.reader, filter, { limit, offset });
    return { items: rows.slice(0, limit).map(listedExecutionBody), pagination: { limit, offset, has_more: rows.length > limit } };
  }

  /** DomainError `not_found`. */
  async get(id: string): Promise<ExecutionBody> {
    const { reader } = this.unitOfWork;
    const row = await this.executions.find(reader, id);
    if (!row) throw new DomainError('not_found', `Execution not found: ${id}`);
    const [inputs, outputs, attempts, modelUses, toolCalls] = await Promise.all([
      this.executions.inputs(reader, id),
      this.executions.outputs(reader, id),
      this.executions.failedAttempts(reader, id),
      this.executions.modelUses(reader, id),
      this.executions.toolCalls(reader, id),
    ]);
    return executionBody(row, { inputs, outputs, attempts, modelUses, toolCalls, form: formOf(row.agent, this.catalog) });
  }

  /** DomainError `not_found`, `conflict` (it cannot be retried), `unavailable`. */
  async retry(id: string): Promise<ExecutionBody> {
    await this.blackboard.refuseWhenBusy();
    await this.unitOfWork.run((tx) => this.blackboard.retryExecution(tx, id));
    return this.get(id);
  }
}
