import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from '../../common/ids.js';

/** What Node refuses before there is a request: its error code, our status and sentence. */
const REFUSALS: Record<string, [number, string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The path, query and headers are larger than 16 KiB together'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
};
const MALFORMED: [number, string] = [400, 'The request is not valid HTTP'];

/** Lets errors below the level of routes have the same body and headers as all others; Node's own have neither. */
export function answerProtocolErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) socket.destroy();
    else endWith(socket, rawAnswer(...(REFUSALS[error.code ?? ''] ?? MALFORMED)));
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // No other listener is left, and an unhandled error would end the process.
    socket.on('error', () => socket.destroy());
    endWith(socket, rawAnswer(405, 'CONNECT is not allowed; this server is no proxy', ['Allow: GET, HEAD, POST']));
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify({ detail: 'The Expect header asks for more than 100-continue' });
    response.writeHead(417, { 'Content-Type': 'application/json', 'Content-Length': body.length, 'X-Request-ID': newId() });
    response.end(body);
  });
}

/** Another answer in the midst of one would garble both; Node's own handler asks the same field. */
const isAnswering = (socket: Duplex & { _httpMessage?: ServerResponse | null }): boolean => socket._httpMessage?.headersSent ?? false;

/** Of the machine's time. */
const CUT_AFTER_MS = 1_000;

/** A connection's last answer. Whoever does not close it too is cut off, but not at once: that could take away the answer. */
export function endWith(socket: Duplex, answer: string): void {
  const timer = setTimeout(() => socket.destroy(), CUT_AFTER_MS).unref();
  socket.end(answer).once('close', () => clearTimeout(timer));
}

/** A whole answer, for where there is no response to write to. `headers`: besides those of every error. */
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
