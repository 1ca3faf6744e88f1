import { Injectable } from '@nestjs/common';
import { Blackboard } from '../blackboard/blackboard.js';
import { ExecutionsWithoutAgent } from '../blackboard/executor/executions-without-agent.js';
import { Catalog } from '../catalog/catalog.js';
import { DomainError } from '../common/domain-error.js';
import { UnitOfWork } from '../database/unit-of-work.js';
import type { ExecutionBody } from './dto/execution-body.js';
import type { EndedBody } from './dto/ended-body.js';
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
    private readonly withoutAgent: ExecutionsWithoutAgent,
  ) {}

  async list(query: ExecutionListQuery): Promise<ExecutionListBody> {
    const { limit, offset } = query;
    const filter = { state: query.state ?? null, agent: query.agent ?? null, correlationId: query.correlation_id ?? null, assignee: query.assignee ?? null };
    const lacking = await this.withoutAgent.agents();
    if (query.without_agent && (lacking.length === 0 || (query.state ?? 'pending') !== 'pending')) return { items: [], pagination: { limit, offset, has_more: false } };
    const rows = await this.executions.list(this.unitOfWork.reader, { ...filter, waitingFor: query.without_agent ? lacking : null }, { limit, offset });
    return { items: rows.slice(0, limit).map((row) => listedExecutionBody(row, lacking)), pagination: { limit, offset, has_more: rows.length > limit } };
  }

  /** DomainError `not_found`. */
  async get(id: string): Promise<ExecutionBody> {
    const { reader } = this.unitOfWork;
    const row = await this.executions.find(reader, id);
    if (!row) throw new DomainError('not_found', `Execution not found: ${id}`);
    const [inputs, outputs, attempts, modelUses, toolCalls, lacking] = await Promise.all([
      this.executions.inputs(reader, id),
      this.executions.outputs(reader, id),
      this.executions.failedAttempts(reader, id),
      this.executions.modelUses(reader, id),
      this.executions.toolCalls(reader, id),
      row.state === 'pending' ? this.withoutAgent.agents() : [],
    ]);
    return executionBody(row, { inputs, outputs, attempts, modelUses, toolCalls, form: formOf(row.agent, this.catalog), lacking });
  }

  /** DomainErrors as of `Blackboard.failWithoutAgent`. */
  async failWithoutAgent(agent: string): Promise<EndedBody> {
    const { executions, groups } = await this.blackboard.failWithoutAgent(agent);
    return { agent, executions, groups };
  }

  /** DomainError `not_found`, `conflict` (it cannot be retried), `unavailable`. */
  async retry(id: string): Promise<ExecutionBody> {
    await this.blackboard.refuseWhenBusy();
    await this.unitOfWork.run((tx) => this.blackboard.retryExecution(tx, id));
    return this.get(id);
  }
}
