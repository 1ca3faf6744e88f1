import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import { newId } from '../../common/ids.js';

/** Errors that Node raises before there is a request: its error code, our status and message. */
const REFUSALS: Record<string, [number, string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The path, query and headers are larger than 16 KiB together'],
  // Node reports this of everything that does not begin with a method that it knows.
  HPE_INVALID_METHOD: [400, 'The request is not valid HTTP, or its method is unknown, such as FOO or get'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
};
const MALFORMED: [number, string] = [400, 'The request is not valid HTTP'];

/** Gives errors below the routes the same body and headers as all others. Node's own error answers have neither. */
export function answerProtocolErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) socket.destroy();
    else endWith(socket, rawAnswer(...(REFUSALS[error.code ?? ''] ?? MALFORMED)));
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // No other listener is left, and an unhandled error would end the process.
    socket.on('error', () => socket.destroy());
    endWith(socket, rawAnswer(405, 'CONNECT is not allowed; this server is not a proxy', ['Allow: GET, HEAD, POST']));
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify({ detail: 'The Expect header must be 100-continue' });
    response.writeHead(417, {
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      'X-Request-ID': newId(),
    });
    response.end(body);
  });
}

/** Whether an answer is being sent, which a second answer would garble. Node's own handler reads the same field. */
const isAnswering = (socket: Duplex & { _httpMessage?: ServerResponse | null }): boolean =>
  socket._httpMessage?.headersSent ?? false;

/** Real milliseconds, independent of the injected clock. */
const CUT_AFTER_MS = 1_000;

/**
 * Sends a connection's last answer. A client that does not close it is disconnected after a delay, so that it gets the
 * answer.
 */
export function endWith(socket: Duplex, answer: string): void {
  const timer = setTimeout(() => socket.destroy(), CUT_AFTER_MS).unref();
  socket.end(answer).once('close', () => clearTimeout(timer));
}

/** A complete answer, for places without a response object. `headers`: in addition to those of every error. */
export function rawAnswer(status: number, detail: string, headers: readonly string[] = []): string {
  const body = JSON.stringify({ detail });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-ID: ${newId()}`,
    ...headers,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
