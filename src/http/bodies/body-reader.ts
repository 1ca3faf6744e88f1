import type { Request } from 'express';

import { CollectedBytes } from './collected-bytes.js';
import type { IncomingBody } from './incoming-bodies.js';
import { cutOff, type Done, encodingOf, inflate, tooLarge } from './inflation.js';

/**
 * Reads the decompressed body, up to `limitBytes`. Calls `done` once, unless this throws. A compressed body is inflated
 * after it has arrived completely, so that a slow sender holds no more memory than it sent. Errors: 413 if it is too
 * large (before or after decompression), 415 for an unknown encoding, 400 if it is cut off or does not match its
 * Content-Encoding, 408 if it is too slow, DomainError `unavailable` if there is no memory for it.
 */
export function readBody(request: Request, incoming: IncomingBody, limitBytes: number, done: Done): void {
  const encoding = encodingOf(request);
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  collect(request, incoming, limitBytes, (error, body) => {
    if (error || encoding === null) done(error, body);
    else inflate(body!, encoding, limitBytes, (bytes) => incoming.memory.grow(bytes), done);
  });
}

function collect(request: Request, incoming: IncomingBody, limitBytes: number, done: Done): void {
  const bytes = new CollectedBytes((taken) => incoming.grow(taken));
  const finish: Done = (error, body) => {
    if (incoming.onRefused !== refuse) return;
    incoming.onRefused = null;
    bytes.takeAll();
    done(error, body);
  };
  const refuse = (error: Error): void => finish(error);
  incoming.onRefused = refuse;
  request.on('data', (part: Buffer) => {
    incoming.partArrived(part.length);
    // The rest is still received and dropped: a client that is cut off during its upload would not see the answer.
    if (incoming.onRefused !== refuse) return;
    try {
      if (bytes.size + part.length > limitBytes) throw tooLarge(limitBytes);
      bytes.add(part);
    } catch (error) {
      finish(error as Error);
    }
  });
  request.on('end', () => finish(null, bytes.takeAll()));
  request.on('error', () => finish(cutOff()));
}
