import type { Server } from 'node:http';

/** How long pending answers may take after the running work has ended. */
const LAST_ANSWERS_MS = 3_000;

/** Call it before the server closes: a closing server waits for its connections, so idle and endless ones would keep it open. */
export function endConnections(server: Server): void {
  let closingSince: number | undefined;
  const ending = setInterval(() => {
    // The server listens until the running work has ended, so that probes get a 503.
    if (server.listening) return;
    closingSince ??= performance.now();
    if (performance.now() - closingSince > LAST_ANSWERS_MS) server.closeAllConnections();
    else server.closeIdleConnections();
  }, 50).unref();
  server.once('close', () => clearInterval(ending));
}
