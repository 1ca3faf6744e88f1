import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import type { Logger } from 'pino';

import { isUnavailable } from '../../common/domain-error.js';
import type { WaitingRequests } from './waiting-requests.js';

/** Modern clients send the next request after the answer. Clients that use pipelining stay below this. */
const MOST_UNANSWERED = 16;

const NOTHING = (): void => undefined;

/** Only requests with these methods may run beside others of their connection (RFC 9112, section 9.3.2). */
const SAFE: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/** A request that is not answered. `begin` is null after it has begun. */
interface Unanswered {
  isSafe: boolean;
  begin: (() => void) | null;
}

const UNANSWERED = Symbol('unanswered requests');

type Connection = Socket & { [UNANSWERED]?: Unanswered[] };
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Closes a connection on which more than 16 requests wait for their answers. Node hands over all requests in a packet,
 * even if the client reads no answer: a thousand fit into one packet, and each would be processed. This runs before the
 * application, whose first steps alone would take seconds for them. Also closes a connection if there is no memory for
 * a second waiting request: that request stays in memory until the first is answered, even if its own answer is ready.
 * A request begins after all earlier ones are answered, unless all of them and itself have safe methods: writes would
 * otherwise overtake each other.
 */
export function limitPipelining(server: Server, waiting: WaitingRequests, logger: Logger): void {
  const handlers = server.listeners('request') as Handler[];
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const socket: Connection = request.socket;
    // The connection was closed because of an earlier request in the same packet.
    if (socket.destroyed) {
      // Otherwise Node ends each of them with an error when the connection closes, which takes a third longer.
      request.destroy();
      return;
    }
    const line = (socket[UNANSWERED] ??= []);
    const begin = (): void => handlers.forEach((handler) => handler.call(server, request, response));
    const place: Unanswered = { isSafe: SAFE.has(request.method), begin };
    const unanswered = line.push(place);
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
      line.splice(line.indexOf(place), 1);
      stopWaiting();
      if (!socket.destroyed) beginNext(line);
    });
    beginNext(line);
  });
}

/** Begins the requests that need not wait for earlier ones. */
function beginNext(line: readonly Unanswered[]): void {
  for (const [index, place] of line.entries()) {
    if (index > 0 && !(place.isSafe && line[0]!.isSafe)) return;
    const { begin } = place;
    place.begin = null;
    begin?.();
  }
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
