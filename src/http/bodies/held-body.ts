import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

import { emptyOut, type HeldRequest } from '../../common/held-request.js';
import { incomingBody } from './incoming-bodies.js';

/** The body of a request, which its handler may release before the answer. */
export class HeldBody implements HeldRequest {
  constructor(private readonly request: Request) {}

  get bytes(): number {
    return incomingBody(this.request)?.memory.bytes ?? 0;
  }

  waits(): void {
    incomingBody(this.request)?.waits();
  }

  releaseBody(given: object): void {
    emptyOut(given);
    this.request.body = undefined;
    incomingBody(this.request)?.memory.release();
  }
}

/** Parameter of a handler that lets its client wait. */
export const Held = createParamDecorator(
  (_data: unknown, context: ExecutionContext): HeldRequest =>
    new HeldBody(context.switchToHttp().getRequest<Request>()),
);

const digests = new WeakMap<Request, string>();

/** Sets the digest of the file that came with a request, because the parsed body does not contain the file. */
export const setAttachmentDigest = (request: Request, digest: string): void => {
  digests.set(request, digest);
};

export const attachmentDigestOf = (request: Request): string | undefined => digests.get(request);
