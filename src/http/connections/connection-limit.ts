import type { Server } from 'node:http';

import type { Logger } from 'pino';

import type { Clock } from '../../common/clock.js';

const REPORT_EVERY_MS = 60_000;

/**
 * Node closes connections above the limit immediately, without an answer. The log reports their number at most once a
 * minute.
 */
export function limitConnections(server: Server, maxConnections: number, clock: Clock, logger: Logger): void {
  let dropped = 0;
  let reportAt = -Infinity;
  server.maxConnections = maxConnections;
  server.on('drop', () => {
    dropped += 1;
    if (clock.now() < reportAt) return;
    logger.warn({ dropped }, `${maxConnections} connections are open; new ones are closed (max_connections)`);
    dropped = 0;
    reportAt = clock.now() + REPORT_EVERY_MS;
  });
}
