import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, NotFoundException } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { DomainError, type DomainErrorCode } from '../../common/domain-error.js';
import { wrongMethod } from '../middleware/allowed-methods.js';
import { requestIdOf } from '../middleware/request-observer.js';

/** The one place where a domain error becomes an HTTP status. */
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
      // Half an answer is on its way: only cutting it off tells the client that it is not whole.
      this.logger.error({ err: error, request_id: requestIdOf(response) }, 'failed while answering');
      response.destroy();
    } else if (error instanceof DomainError) this.answerDomainError(error, response);
    else if (error instanceof HttpException) answerHttpException(foundOut(error, response), response);
    else this.answerUnexpected(error, response);
  }

  private answerDomainError(error: DomainError, response: Response): void {
    const { retryAfterSeconds = DEFAULT_RETRY_AFTER_SECONDS, cause } = error.options;
    if (error.code === 'unavailable') {
      response.setHeader('Retry-After', String(retryAfterSeconds));
      // Where the service itself refuses, as when it is overloaded, the request's own line says all.
      if (cause !== undefined) this.logger.warn({ err: error, request_id: requestIdOf(response) }, error.message);
    }
    response.status(STATUS[error.code]).json({ detail: error.message });
  }

  /** The inside stays inside: the client gets the id under which the log has it. */
  private answerUnexpected(error: unknown, response: Response): void {
    const id = requestIdOf(response);
    this.logger.error({ err: error, request_id: id }, 'unexpected error');
    response.status(500).json({ detail: `Internal error; the service's log has it under request id ${id}` });
  }
}

function answerHttpException(error: HttpException, response: Response): void {
  const body = error.getResponse();
  response.status(error.getStatus());
  // Terminus' own body stands as it is, at 503 too: probes read it.
  if (isHealthBody(body)) response.json(body);
  else response.json({ detail: error instanceof NotFoundException ? noRoute(response.req) : error.message });
}

/** Where no route matched, the path may have one for another method. */
const foundOut = (error: HttpException, response: Response): HttpException =>
  error instanceof NotFoundException ? (wrongMethod(response.req, response) ?? error) : error;

/** Services throw DomainErrors; Nest's own "not found" means that no route matched. */
const noRoute = ({ method, path }: Request): string => `No route for ${method} ${path}; /docs lists them all`;

const isHealthBody = (body: unknown): boolean => typeof body === 'object' && body !== null && 'details' in body;
