import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Response } from 'express';

/**
 * An AbortSignal for a handler that lets its client wait. It aborts when the response closes, also after a complete
 * answer.
 */
export const ClientGone = createParamDecorator((_data: unknown, context: ExecutionContext): AbortSignal => {
  const gone = new AbortController();
  const response = context.switchToHttp().getResponse<Response>();
  if (response.closed) gone.abort();
  else response.once('close', () => gone.abort());
  return gone.signal;
});
