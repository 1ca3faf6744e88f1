import type { Request } from 'express';

const digests = new WeakMap<Request, string>();

/** Sets the digest of the file that came with a request, because the parsed body does not contain the file. */
export const setAttachmentDigest = (request: Request, digest: string): void => {
  digests.set(request, digest);
};

export const attachmentDigestOf = (request: Request): string | undefined => digests.get(request);
