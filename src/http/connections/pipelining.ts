import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { isUnavailable } from '../../common/domain-error.js';
import type { WaitingRequests } from './waiting-requests.js';

/** Clients of today send the next request after the answer, and those that do not stay below. */
const MOST_UNANSWERED = 16;

const NOTHING = (): void => undefined;

const UNANSWERED = Symbol('unanswered requests');

type Counted = Socket & { [UNANSWERED]?: number };
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Cuts a connection on which more than 16 requests wait for their answers. Node hands over all requests that are in a packet, whether or
 * not their client reads any answer: a thousand fit into one, and each would be worked on. Before the application, whose own first steps
 * would take seconds for them. Also cuts one on which a second request waits for which there is no memory: it is kept until the first is
 * answered, even where its own answer is there.
 */
export function limitPipelining(server: Server, waiting: WaitingRequests, logger: Logger): void {
  const handlers = server.listeners('request') as Handler[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const socket: Counted = request.socket;
    // The rest of a packet that it was cut for.
    if (socket.destroyed) return;
    const unanswered = (socket[UNANSWERED] ?? 0) + 1;
    socket[UNANSWERED] = unanswered;
    const stopWaiting = unanswered === 1 ? NOTHING : unanswered > MOST_UNANSWERED ? null : heldOf(waiting, request);
    if (stopWaiting === null) {
      logger.warn({ remote_address: socket.remoteAddress }, `a connection was cut: ${unanswered} requests waited on it for their answers`);
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

/** Null if the budget has no room. */
function heldOf(waiting: WaitingRequests, request: IncomingMessage): (() => void) | null {
  try {
    return waiting.hold(request);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return null;
  }
}
