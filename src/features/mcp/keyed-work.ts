import { Injectable } from '@nestjs/common';

import type { HeldRequest } from '../../common/held-request.js';
import { newId } from '../../common/ids.js';
import type { JsonObject } from '../../common/json.js';
import { IdempotencyService } from '../idempotency/idempotency.service.js';
import { requestHash } from '../idempotency/idempotent-request.js';
import type { RequestIds } from '../idempotency/request-ids.js';
import type { ToolAnswer } from './tool.js';

/** Executes tools that start work, with an idempotency key or without, as REST does. */
@Injectable()
export class KeyedWork {
  constructor(private readonly idempotency: IdempotencyService) {}

  /**
   * `given` must be validated, and `held` must own everything that `work` needs. Keys are scoped to the operation, so
   * that they stay valid when the tools change between one for each type or agent and one for all.
   */
  async answer(
    operation: 'publish' | 'run',
    given: JsonObject,
    held: HeldRequest,
    work: (ids: RequestIds) => Promise<object>,
  ): Promise<ToolAnswer> {
    const { idempotency_key: key, correlation_id: named } = given as {
      idempotency_key?: string;
      correlation_id?: string;
    };
    held.waits();
    const newIds = (): RequestIds => ({ madeId: newId(), correlationId: named ?? newId() });
    if (key === undefined) {
      const ids = { ...newIds(), isNewCorrelation: named === undefined };
      return { body: await work(ids), correlationId: ids.correlationId };
    }
    const request = {
      endpoint: `MCP ${operation}`,
      key,
      hash: hashOf(given),
      newIds,
      heldBytes: held.bytes,
      waits: () => held.waits(),
      releaseBody: () => held.releaseBody(given),
    };
    const answer = await this.idempotency.answer(request, work);
    const { content, replayed, mismatch } = answer;
    return {
      body: typeof content === 'string' ? (JSON.parse(content) as object) : content,
      correlationId: answer.ids.correlationId,
      replayed,
      mismatch,
    };
  }
}

const hashOf = ({ idempotency_key: _key, correlation_id: _named, ...rest }: JsonObject): string => requestHash(rest);
