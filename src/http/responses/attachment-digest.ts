import type { Request } from 'express';

const digests = new WeakMap<Request, string>();

/** What tells the file that came with a request from others; its body does not hold it. */
export const setAttachmentDigest = (request: Request, digest: string): void => {
  digests.set(request, digest);
};

export const attachmentDigestOf = (request: Request): string | undefined => digests.get(request);
