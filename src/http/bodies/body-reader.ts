import type { Request } from 'express';
import { CollectedBytes } from './collected-bytes.js';
import type { IncomingBody } from './incoming-bodies.js';
import { cutOff, type Done, encodingOf, inflate, tooLarge } from './inflation.js';

/**
 * The body, decompressed, up to `limitBytes`; `done` is called once, unless this throws. What is compressed is inflated once it is all there, so that
 * whoever sends slowly holds no more than was sent. Errors: 413 too large (decompressed too), 415 unknown encoding, 400 cut off or
 * not what its Content-Encoding says, 408 too slow, DomainError `unavailable` where there is no memory for it.
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
    // The rest still flows, unread: a client that is cut off in mid-upload would not see the answer.
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
