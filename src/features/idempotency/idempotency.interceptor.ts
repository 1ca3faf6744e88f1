import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { from, lastValueFrom, map, type Observable } from 'rxjs';

import type { StoredText } from '../../blackboard/queries/stored-texts.js';
import { DomainError } from '../../common/domain-error.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import { isJsonObject, type JsonValue } from '../../common/json.js';
import { attachmentDigestOf, HeldBody } from '../../http/bodies/held-body.js';
import { ApiHeader } from '../../http/openapi/documentation.js';
import { JsonText } from '../../http/responses/send-json.js';
import { isVisibleAscii, visibleAsciiRule } from '../../http/validation/text-rules.js';
import { IdempotencyService } from './idempotency.service.js';
import { type IdempotentAnswer, MAX_IDEMPOTENCY_KEY, requestHash } from './idempotent-request.js';
import { answerIds, requestIdsOf, reserveIds } from './request-ids.js';

/**
 * Lets a route take `X-Idempotency-Key`. Its handler must use the ids that `@Ids()` gives it for everything it creates.
 */
export const Idempotent = (): MethodDecorator =>
  applyDecorators(
    UseInterceptors(IdempotencyInterceptor),
    ApiHeader({
      name: 'X-Idempotency-Key',
      required: false,
      description:
        'Requests with the same key on the same endpoint are executed once. For 24 hours (unless configured ' +
        'otherwise) they get the answer of the first that succeeded. A request that comes while the first is ' +
        'running waits for it.',
      schema: {
        type: 'string',
        minLength: 1,
        maxLength: 255,
        pattern: '^[\\x21-\\x7e]+$',
        example: 'order-4711-submit',
      },
    }),
  );

/** Documents the response headers of an idempotent route. */
export const IDEMPOTENCY_HEADERS = {
  'X-Idempotency-Replayed': {
    description: '`true` if the answer was made for an earlier request with this key',
    schema: { type: 'string' as const, enum: ['true'] },
    example: 'true',
  },
  'X-Idempotency-Mismatch': {
    description: '`true` if the answer is that of an earlier request with this key and another body',
    schema: { type: 'string' as const, enum: ['true'] },
    example: 'true',
  },
};

/** A body that takes more memory than this is large. */
const LARGE_BYTES = 256 * 1_024;

const HEADER = 'X-Idempotency-Key';

/** Handles requests with the same `X-Idempotency-Key` once (docs/api.md). */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly idempotency: IdempotencyService) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const key = keyOf(request);
    if (key === undefined) return next.handle();
    const held = new HeldBody(request);
    const idempotent = {
      endpoint: endpointOf(request),
      key,
      hash: requestHash(request.body as JsonValue | undefined, attachmentDigestOf(request)),
      newIds: requestIdsOf(context),
      heldBytes: held.bytes,
      waits: () => held.waits(),
      releaseBody: () => held.releaseBody(isJsonObject(request.body) ? request.body : {}),
    };
    const work = (): Promise<IdempotentAnswer> =>
      this.idempotency.answer(idempotent, (ids) => {
        reserveIds(request, ids);
        return lastValueFrom(next.handle());
      });
    // Hashing a large body and handling it both take time. Yielding in between lets other requests run.
    const answer = idempotent.heldBytes > LARGE_BYTES ? yieldToEventLoop().then(work) : work();
    return from(answer).pipe(
      map((answered) => {
        answerIds(context, answered.ids);
        return send(answered, response);
      }),
    );
  }
}

/** A route with another id in its path is another endpoint. */
function endpointOf({ method, route, params }: Request): string {
  const { path } = route as { path: string };
  return `${method} ${path.replace(/:(\w+)/g, (_parameter, name: string) => String(params[name]))}`;
}

function keyOf(request: Request): string | undefined {
  const key = request.headers['x-idempotency-key'] as string | undefined;
  if (key !== undefined && !isVisibleAscii(key, MAX_IDEMPOTENCY_KEY)) {
    throw new DomainError('invalid', `${HEADER}: ${visibleAsciiRule(MAX_IDEMPOTENCY_KEY)}`);
  }
  return key;
}

/** Sends the stored text unchanged, so that every answer to a key has the same bytes. */
function send({ content, replayed, mismatch }: IdempotentAnswer, response: Response): JsonText | StoredText {
  if (replayed) response.setHeader('X-Idempotency-Replayed', 'true');
  if (mismatch) response.setHeader('X-Idempotency-Mismatch', 'true');
  return typeof content === 'string' ? new JsonText(content) : content;
}
