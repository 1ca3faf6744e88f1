import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

import { HttpException } from '@nestjs/common';
import type { Logger } from 'pino';

import { DomainError } from '../../common/domain-error.js';
import type { Settings } from '../../config/settings.js';
import { DEFAULT_RETRY_AFTER_SECONDS, STATUS } from '../errors/error-filter.js';
import { endWith, rawAnswer } from '../errors/protocol-errors.js';
import { hostRefusals } from '../middleware/host-check.js';
import { originRefusals } from '../middleware/origin-check.js';

/**
 * Takes over the connection, or rejects with the error for the client. Bytes that arrive before that stay in the
 * socket.
 */
type UpgradeHandler = (request: IncomingMessage, socket: Socket, head: Buffer) => Promise<void>;

/**
 * Hands WebSocket requests at these paths to a handler, after the checks that every request passes. At any other path
 * the Upgrade header is ignored (RFC 9110, section 7.8), and the request gets the answer of its route. The same holds
 * for methods other than GET, because a handshake is always a GET (RFC 6455, section 4.1).
 */
export function receiveUpgrades(
  server: Server,
  { host, allowedHosts, corsOrigins }: Pick<Settings, 'host' | 'allowedHosts' | 'corsOrigins'>,
  logger: Logger,
  paths: readonly string[],
  handler: UpgradeHandler,
): void {
  const hostRefusal = hostRefusals(host, allowedHosts);
  const originRefusal = originRefusals(corsOrigins);
  Object.assign(server, {
    shouldUpgradeCallback: (request: IncomingMessage) => asksForWebSocket(request) && paths.includes(pathOf(request)),
  });
  const accept = async (request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> => {
    const refusal = hostRefusal(request) ?? originRefusal(request);
    if (refusal) throw refusal;
    await handler(request, socket, head);
    logger.info({ method: request.method, path: pathOf(request), status: 101 }, 'request');
  };
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // No other listener is left at this point, and an unhandled error would end the process.
    socket.on('error', () => socket.destroy());
    accept(request, socket, head).catch((error: unknown) => endWith(socket, refusal(error, logger)));
  });
}

const asksForWebSocket = ({ headers, method }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0]!;

function refusal(error: unknown, logger: Logger): string {
  if (error instanceof DomainError) {
    const { retryAfterSeconds = DEFAULT_RETRY_AFTER_SECONDS } = error.options;
    return rawAnswer(
      STATUS[error.code],
      error.message,
      error.code === 'unavailable' ? [`Retry-After: ${retryAfterSeconds}`] : [],
    );
  }
  if (error instanceof HttpException) return rawAnswer(error.getStatus(), error.message);
  logger.error({ err: error }, 'unexpected error');
  return rawAnswer(500, "Internal error; see the service's log");
}
