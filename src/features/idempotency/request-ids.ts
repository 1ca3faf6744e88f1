import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request, Response } from 'express';
import { newId } from '../../common/ids.js';
import { answerCorrelationId, takeCorrelationId } from '../../http/middleware/correlation-id.js';

/** The ids of what a request makes, fixed before it makes anything. */
export interface RequestIds {
  /** Of the artifact that is published, of a run's first input, or of a batch. */
  madeId: string;
  /** Of the correlation that it is in, which is a run's own id. */
  correlationId: string;
}

const OUTSIDE = Symbol('outside of any correlation');

/** Marks a route that makes something outside of any correlation: it neither reads `X-Correlation-ID` nor answers it. */
export const OutsideCorrelation = (): MethodDecorator => SetMetadata(OUTSIDE, true);

const isInside = (context: ExecutionContext): boolean => Reflect.getMetadata(OUTSIDE, context.getHandler()) !== true;

const reserved = new WeakMap<Request, RequestIds>();

/** Makes new ids for a request, in the correlation that it names. What it names is checked first: see `takeCorrelationId`. */
export function requestIdsOf(context: ExecutionContext): () => RequestIds {
  const http = context.switchToHttp();
  const named = isInside(context) ? takeCorrelationId(http.getRequest<Request>(), http.getResponse<Response>()) : undefined;
  return () => ({ madeId: newId(), correlationId: named ?? newId() });
}

/** Has the answer name the correlation, where the route is in one. */
export function answerIds(context: ExecutionContext, { correlationId }: RequestIds): void {
  if (isInside(context)) answerCorrelationId(context.switchToHttp().getResponse<Response>(), correlationId);
}

/** Has `@Ids()` hand out these, which an idempotency key holds. */
export const reserveIds = (request: Request, ids: RequestIds): void => {
  reserved.set(request, ids);
};

/** The ids that the handler is to use: those of its idempotency key, or else new ones. The answer names the correlation. */
export const Ids = createParamDecorator((_data: unknown, context: ExecutionContext): RequestIds => {
  const ids = reserved.get(context.switchToHttp().getRequest<Request>()) ?? requestIdsOf(context)();
  answerIds(context, ids);
  return ids;
});
