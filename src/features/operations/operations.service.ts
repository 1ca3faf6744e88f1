import { Injectable } from '@nestjs/common';

import type { Operation, OperationFilter } from '../../blackboard/operations/operation.js';
import { Operations } from '../../blackboard/operations/operations.js';
import { DomainError } from '../../common/domain-error.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { OperationKind } from '../../database/schema.js';
import { parseTimestamp } from '../../http/validation/query.js';
import type {
  MatchedBody,
  OperationBody,
  OperationFilterBody,
  OperationListBody,
  OperationListQuery,
} from './dto/operation-body.js';
import type { FailAllRequest, RetryAllRequest } from './dto/operation-requests.js';

/** Starts and shows operations over many executions. */
@Injectable()
export class OperationsService {
  constructor(private readonly operations: Operations) {}

  /** Throws DomainError `invalid`, and those of `Operations.start`. */
  async retry(id: string, { dry_run, ...filter }: RetryAllRequest): Promise<OperationBody | MatchedBody> {
    return this.start(id, 'retry', filterOf(filter, 'group, agent, error_type, correlation_id, from or to'), dry_run);
  }

  /** Throws DomainError `invalid`, and those of `Operations.start`. */
  async fail(id: string, { dry_run, ...filter }: FailAllRequest): Promise<OperationBody | MatchedBody> {
    return this.start(id, 'fail', filterOf(filter, 'agent, correlation_id, from or to'), dry_run);
  }

  /** Throws DomainError `not_found`. */
  async get(id: string): Promise<OperationBody> {
    return operationBody(await this.operations.get(id));
  }

  async list({ limit, offset }: OperationListQuery): Promise<OperationListBody> {
    const rows = await this.operations.list({ limit, offset });
    return {
      items: rows.slice(0, limit).map(operationBody),
      pagination: { limit, offset, has_more: rows.length > limit },
    };
  }

  /** Throws the DomainErrors of `Operations.cancel`. */
  async cancel(id: string): Promise<OperationBody> {
    return operationBody(await this.operations.cancel(id));
  }

  private async start(
    id: string,
    kind: OperationKind,
    filter: OperationFilter,
    isDryRun = false,
  ): Promise<OperationBody | MatchedBody> {
    return isDryRun
      ? { matched: await this.operations.count(kind, filter) }
      : operationBody(await this.operations.start(id, kind, filter));
  }
}

/** `fields`: the filters of the request, for the error message. */
function filterOf(body: OperationFilterBody, fields: string): OperationFilter {
  const filter: OperationFilter = {
    ...(body.group !== undefined && { failureGroup: body.group }),
    ...(body.agent !== undefined && { agent: body.agent }),
    ...(body.error_type !== undefined && { errorType: body.error_type }),
    ...(body.correlation_id !== undefined && { correlationId: body.correlation_id }),
    ...(body.from !== undefined && { from: parseTimestamp(body.from)! }),
    ...(body.to !== undefined && { to: parseTimestamp(body.to)! }),
  };
  if (Object.keys(filter).length === 0) throw new DomainError('invalid', `The body needs a filter: ${fields}`);
  return filter;
}

const operationBody = (operation: Operation): OperationBody => ({
  operation_id: operation.id,
  kind: operation.kind,
  filter: filterBody(JSON.parse(operation.filter) as OperationFilter),
  state: operation.state,
  matched: operation.matched,
  done: operation.done,
  failed: operation.failed,
  last_error: operation.last_error,
  created_at: toTimestamp(operation.created_at),
  ended_at: operation.ended_at === null ? null : toTimestamp(operation.ended_at),
});

const filterBody = (filter: OperationFilter): OperationFilterBody => ({
  ...(filter.failureGroup !== undefined && { group: filter.failureGroup }),
  ...(filter.agent !== undefined && { agent: filter.agent }),
  ...(filter.errorType !== undefined && { error_type: filter.errorType }),
  ...(filter.correlationId !== undefined && { correlation_id: filter.correlationId }),
  ...(filter.from !== undefined && { from: toTimestamp(filter.from) }),
  ...(filter.to !== undefined && { to: toTimestamp(filter.to) }),
});
