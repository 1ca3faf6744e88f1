import { ApiHeader } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { DomainError } from '../../common/domain-error.js';
import { isVisibleAscii, visibleAsciiRule } from '../validation/visible-ascii.js';

const HEADER = 'X-Correlation-ID';

export const MAX_CORRELATION_ID = 200;

/**
 * The caller's correlation id; `undefined` where the header is absent. The answer carries it, an error too.
 * DomainError `invalid` where it is not 1 to 200 visible ASCII characters.
 */
export function takeCorrelationId(request: Request, response: Response): string | undefined {
  const id = request.headers['x-correlation-id'] as string | undefined;
  if (id === undefined) return undefined;
  if (!isVisibleAscii(id, MAX_CORRELATION_ID)) throw new DomainError('invalid', `${HEADER}: ${visibleAsciiRule(MAX_CORRELATION_ID)}`);
  answerCorrelationId(response, id);
  return id;
}

/** Names the correlation in the answer's headers, and by them in the request's log line. */
export const answerCorrelationId = (response: Response, correlationId: string): void => {
  response.setHeader(HEADER, correlationId);
};

export const ApiCorrelationHeader = (): MethodDecorator =>
  ApiHeader({
    name: HEADER,
    required: false,
    description: 'Correlation to publish into: 1 to 200 visible ASCII characters. Where absent, the service makes one.',
    schema: { type: 'string', minLength: 1, maxLength: MAX_CORRELATION_ID, pattern: '^[\\x21-\\x7e]+$', example: 'order-4711' },
  });

/** The header of an answer that names its correlation. */
export const CORRELATION_HEADERS = {
  [HEADER]: { description: 'The correlation; ask for its status under this id', schema: { type: 'string' as const }, example: 'order-4711' },
};
