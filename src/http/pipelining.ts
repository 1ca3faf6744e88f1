import type { Socket } from 'node:net';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';

/** Clients of today send the next request after the answer, and those that do not stay far below. */
const MOST_UNANSWERED = 64;

const UNANSWERED = Symbol('unanswered requests');

type Counted = Socket & { [UNANSWERED]?: number };

/**
 * Cuts a connection on which more than 64 requests wait for their answers. Node hands over all requests that are in a packet, whether or
 * not their client reads any answer: thousands fit into one, and each would be worked on.
 */
export function limitPipelining(logger: Logger): RequestHandler {
  return (request, response, next) => {
    const socket: Counted = request.socket;
    const unanswered = (socket[UNANSWERED] ?? 0) + 1;
    socket[UNANSWERED] = unanswered;
    // What else was in the same packet.
    if (socket.destroyed) return;
    if (unanswered > MOST_UNANSWERED) {
      logger.warn({ remote_address: socket.remoteAddress }, `a connection was cut: ${unanswered} requests waited on it for their answers`);
      socket.destroy();
      return;
    }
    response.once('close', () => (socket[UNANSWERED]! -= 1));
    next();
  };
}
