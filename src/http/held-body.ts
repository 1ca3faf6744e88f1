import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { emptyOut, type HeldRequest } from '../common/held-request.js';
import { incomingBody, releaseBody } from './incoming-bodies.js';

/** The body of a request, as long as its handler needs it. */
export class HeldBody implements HeldRequest {
  constructor(private readonly request: Request) {}

  get bytes(): number {
    return incomingBody(this.request)?.memory.bytes ?? 0;
  }

  letGo(given: object): void {
    emptyOut(given);
    this.request.body = undefined;
    releaseBody(this.request);
  }
}

/** For a handler that lets its client wait. */
export const Held = createParamDecorator((_data: unknown, context: ExecutionContext): HeldRequest => new HeldBody(context.switchToHttp().getRequest<Request>()));
