import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { newId } from '../common/ids.js';
import { answerCorrelationId, takeCorrelationId } from '../http/correlation-id.js';

/** The ids of what a request makes, fixed before it makes anything. */
export interface RequestIds {
  artifactId: string;
  correlationId: string;
}

const reserved = new WeakMap<Request, RequestIds>();

/** Ids of its own for a request, within the correlation that it names. */
export const newRequestIds = (request: Request, response: Response): RequestIds => ({
  artifactId: newId(),
  correlationId: takeCorrelationId(request, response) ?? newId(),
});

/** Has `@Ids()` hand out these, which an idempotency key holds. */
export const reserveIds = (request: Request, ids: RequestIds): void => {
  reserved.set(request, ids);
};

/** The ids that the handler is to use: those of its idempotency key, or else new ones. The answer names the correlation. */
export const Ids = createParamDecorator((_data: unknown, context: ExecutionContext): RequestIds => {
  const http = context.switchToHttp();
  const request = http.getRequest<Request>();
  const response = http.getResponse<Response>();
  const ids = reserved.get(request) ?? newRequestIds(request, response);
  answerCorrelationId(response, ids.correlationId);
  return ids;
});
