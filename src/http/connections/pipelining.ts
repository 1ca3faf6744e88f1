import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { Logger } from 'pino';

import { isUnavailable } from '../../common/domain-error.js';
import type { WaitingRequests } from './waiting-requests.js';

/** Modern clients send the next request after the answer. Clients that use pipelining stay below this. */
const MOST_UNANSWERED = 16;

const NOTHING = (): void => undefined;

const UNANSWERED = Symbol('unanswered requests');

type Counted = Socket & { [UNANSWERED]?: number };
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Closes a connection on which more than 16 requests wait for their answers. Node hands over all requests in a packet,
 * even if the client reads no answer: a thousand fit into one packet, and each would be processed. This runs before the
 * application, whose first steps alone would take seconds for them. Also closes a connection if there is no memory for
 * a second waiting request: that request stays in memory until the first is answered, even if its own answer is ready.
 */
export function limitPipelining(server: Server, waiting: WaitingRequests, logger: Logger): void {
  const handlers = server.listeners('request') as Handler[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const socket: Counted = request.socket;
    // The connection was closed because of an earlier request in the same packet.
    if (socket.destroyed) {
      // Otherwise Node ends each of them with an error when the connection closes, which takes a third longer.
      request.destroy();
      return;
    }
    const unanswered = (socket[UNANSWERED] ?? 0) + 1;
    socket[UNANSWERED] = unanswered;
    const stopWaiting = unanswered === 1 ? NOTHING : unanswered > MOST_UNANSWERED ? null : heldOf(waiting, request);
    if (stopWaiting === null) {
      logger.warn(
        { remote_address: socket.remoteAddress },
        `closed a connection on which ${unanswered} requests waited for their answers`,
      );
      socket.destroy();
      return;
    }
    response.on('close', () => {
      socket[UNANSWERED]! -= 1;
      stopWaiting();
    });
    for (const handler of handlers) handler.call(server, request, response);
  });
}

/** Null if the budget has no room for the request. */
function heldOf(waiting: WaitingRequests, request: IncomingMessage): (() => void) | null {
  try {
    return waiting.hold(request);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return null;
  }
}
