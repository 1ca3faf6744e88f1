import type { Request, Response } from 'express';

import { DomainError } from '../../common/domain-error.js';
import { ApiHeader } from '../openapi/documentation.js';
import { isVisibleAscii, visibleAsciiRule } from '../validation/text-rules.js';

const HEADER = 'X-Correlation-ID';

export const MAX_CORRELATION_ID = 200;

/**
 * Returns the caller's correlation id, or `undefined` if the header is absent. Adds it to the answer, also to an error
 * answer. Throws a DomainError `invalid` if it is not 1 to 200 visible ASCII characters.
 */
export function takeCorrelationId(request: Request, response: Response): string | undefined {
  const id = request.headers['x-correlation-id'] as string | undefined;
  if (id === undefined) return undefined;
  if (!isVisibleAscii(id, MAX_CORRELATION_ID))
    throw new DomainError('invalid', `${HEADER}: ${visibleAsciiRule(MAX_CORRELATION_ID)}`);
  answerCorrelationId(response, id);
  return id;
}

/** Sets the correlation id as a header of the answer. The request's log line reads it from there. */
export const answerCorrelationId = (response: Response, correlationId: string): void => {
  response.setHeader(HEADER, correlationId);
};

export const ApiCorrelationHeader = (): MethodDecorator =>
  ApiHeader({
    name: HEADER,
    required: false,
    description:
      'Correlation to publish into: 1 to 200 visible ASCII characters. If absent, the service creates an id.',
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_CORRELATION_ID,
      pattern: '^[\\x21-\\x7e]+$',
      example: 'order-4711',
    },
  });

/** The header of an answer that contains its correlation id. */
export const CORRELATION_HEADERS = {
  [HEADER]: {
    description: 'Id of the correlation, for example to query its status',
    schema: { type: 'string' as const },
    example: 'order-4711',
  },
};
