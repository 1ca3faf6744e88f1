import { connect } from 'node:net';

const NO_ANSWER_MS = 60_000;

/** Sends these bytes on a separate connection, and returns the response; the client sends no more. */
export function sendRaw(url: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true }, () => socket.end(bytes));
    const chunks: Buffer[] = [];
    const answered = (): void => resolve(Buffer.concat(chunks).toString('latin1'));
    socket.setTimeout(NO_ANSWER_MS, () => socket.destroy(new Error(`no end within ${NO_ANSWER_MS} ms`)));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', answered);
    // A server that closes with unread bytes resets the connection, after its answer.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? answered() : reject(error),
    );
  });
}
