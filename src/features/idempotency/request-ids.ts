import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request, Response } from 'express';

import { newId } from '../../common/ids.js';
import { answerCorrelationId, takeCorrelationId } from '../../http/middleware/correlation-id.js';

/** The ids of the things that a request creates, fixed before it creates any. */
export interface RequestIds {
  /** Id of the published artifact, of a run's first input, or of a batch. */
  madeId: string;
  /** Id of its correlation, which is also the id of a run. */
  correlationId: string;
  /** Whether the id was made for this request and is given to no other one, so that no correlation has it. */
  isNewCorrelation?: boolean;
}

const OUTSIDE = Symbol('outside of any correlation');

/** Marks a route that creates something outside any correlation. It neither reads nor answers `X-Correlation-ID`. */
export const OutsideCorrelation = (): MethodDecorator => SetMetadata(OUTSIDE, true);

const isInside = (context: ExecutionContext): boolean => Reflect.getMetadata(OUTSIDE, context.getHandler()) !== true;

const reserved = new WeakMap<Request, RequestIds>();

/**
 * Returns a function that makes new ids, in the correlation that the request names. `takeCorrelationId` checks the
 * name.
 */
export function requestIdsOf(context: ExecutionContext): () => RequestIds {
  const named = namedCorrelation(context);
  return () => ({ madeId: newId(), correlationId: named ?? newId() });
}

function namedCorrelation(context: ExecutionContext): string | undefined {
  const http = context.switchToHttp();
  return isInside(context) ? takeCorrelationId(http.getRequest<Request>(), http.getResponse<Response>()) : undefined;
}

/** Sets the correlation header of the answer, unless the route is outside any correlation. */
export function answerIds(context: ExecutionContext, { correlationId }: RequestIds): void {
  if (isInside(context)) answerCorrelationId(context.switchToHttp().getResponse<Response>(), correlationId);
}

/** Makes `@Ids()` return the ids of an idempotency key. */
export const reserveIds = (request: Request, ids: RequestIds): void => {
  reserved.set(request, ids);
};

/**
 * The ids for the handler: those of the idempotency key, otherwise new ones. Sets the correlation header of the answer.
 */
export const Ids = createParamDecorator((_data: unknown, context: ExecutionContext): RequestIds => {
  const ids = reserved.get(context.switchToHttp().getRequest<Request>()) ?? idsWithoutKey(context);
  answerIds(context, ids);
  return ids;
});

function idsWithoutKey(context: ExecutionContext): RequestIds {
  const named = namedCorrelation(context);
  return { madeId: newId(), correlationId: named ?? newId(), isNewCorrelation: named === undefined };
}
