import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, NotFoundException } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';

import { DomainError, type DomainErrorCode } from '../../common/domain-error.js';
import { wrongMethod } from '../middleware/allowed-methods.js';
import { requestIdOf } from '../middleware/request-observer.js';

/** The only mapping from domain errors to HTTP statuses. */
export const STATUS: Record<DomainErrorCode, number> = {
  invalid: 400,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  agent_failed: 500,
  unavailable: 503,
};

export const DEFAULT_RETRY_AFTER_SECONDS = 1;

/** Answers every error of the service with exactly `{"detail": "..."}`. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    if (response.headersSent) {
      // Part of the answer was sent. Only closing the connection shows the client that the answer is incomplete.
      this.logger.error({ err: error, request_id: requestIdOf(response) }, 'failed while answering');
      response.destroy();
    } else if (error instanceof DomainError) this.answerDomainError(error, response);
    else if (error instanceof HttpException) answerHttpException(error, response);
    else this.answerUnexpected(error, response);
  }

  private answerDomainError(error: DomainError, response: Response): void {
    const { retryAfterSeconds = DEFAULT_RETRY_AFTER_SECONDS, cause } = error.options;
    if (error.code === 'unavailable') {
      response.setHeader('Retry-After', String(retryAfterSeconds));
      // Without a cause the service itself refuses, for example because of overload. The log line of the request is
      // enough then.
      if (cause !== undefined) this.logger.warn({ err: error, request_id: requestIdOf(response) }, error.message);
    }
    response.status(STATUS[error.code]).json({ detail: error.message });
  }

  /** Hides internals from the client, which gets the request id of the log entry. */
  private answerUnexpected(error: unknown, response: Response): void {
    const id = requestIdOf(response);
    this.logger.error({ err: error, request_id: id }, 'unexpected error');
    response.status(500).json({ detail: `Internal error; see request id ${id} in the service's log` });
  }
}

function answerHttpException(given: HttpException, response: Response): void {
  const { req } = response;
  const error = isWithoutRoute(given, req) ? (wrongMethod(req, response) ?? noRoute(req)) : given;
  const body = error.getResponse();
  response.status(error.getStatus());
  if (error.getStatus() === STATUS.unavailable) response.setHeader('Retry-After', String(DEFAULT_RETRY_AFTER_SECONDS));
  // The body of Terminus is sent unchanged, also with 503, because probes read it.
  response.json(isHealthBody(body) ? body : { detail: error.message });
}

/**
 * Whether Nest has thrown it because no route matched. A controller of a team's own program throws the class too, with another
 * message. `req.route` does not tell them apart: middleware has a route, and HEAD matches one for POST.
 */
const isWithoutRoute = (error: HttpException, { method, originalUrl }: Request): boolean =>
  error instanceof NotFoundException && error.message === `Cannot ${method} ${originalUrl}`;

const noRoute = ({ method, path }: Request): HttpException =>
  new NotFoundException(`No route for ${method} ${path}; /docs lists them all`);

const isHealthBody = (body: unknown): boolean => typeof body === 'object' && body !== null && 'details' in body;
