import type { INestApplication } from '@nestjs/common';

import { Lifecycle } from '../common/lifecycle.js';
import type { Logger } from '../common/logger.js';
import { readEnvironment } from '../config/environment.js';
import { endConnections } from '../http/end-connections.js';
import { flushLog } from '../observability/logging/create-logger.js';
import { whenNpxEnds } from './npx.js';

/** Exit codes of a forced stop, as shells define them: 128 plus the signal's number. */
const FORCED = { SIGINT: 130, SIGTERM: 143 } as const;

/** On a terminal, Ctrl-C reaches npm and this process, and npm forwards its own: one keystroke causes two signals. */
const ONE_KEYSTROKE_MS = 500;

/** Time after the grace period of the executions, for answers, rollups and the last commits. */
const HARD_LIMIT_MS = 20_000;

/** The first SIGTERM or SIGINT stops gracefully with exit code 0. A second one ends the process immediately. */
export function stopOnSignals(app: INestApplication, graceMs: number, logger: Logger): void {
  let first: { signal: string; at: number } | undefined;
  const onSignal = (signal: keyof typeof FORCED): void => {
    const now = performance.now();
    if (!first) {
      first = { signal, at: now };
      logger.info(
        `${signal}: stopping; running executions have ${graceMs / 1_000} s, a second signal ends the process immediately`,
      );
      void stop(app, graceMs, logger);
    } else if (signal !== 'SIGINT' || first.signal !== 'SIGINT' || now - first.at > ONE_KEYSTROKE_MS) {
      logger.warn(`${signal} again: ending immediately; running executions run again after the next start`);
      process.exit(FORCED[signal]);
    }
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  whenNpxEnds(readEnvironment(), () => {
    if (!first) onSignal('SIGTERM');
  });
}

async function stop(app: INestApplication, graceMs: number, logger: Logger): Promise<void> {
  setTimeout(() => {
    logger.fatal('the graceful stop took too long; ending now, and the next start takes over the running executions');
    process.exit(1);
  }, graceMs + HARD_LIMIT_MS).unref();
  try {
    app.get(Lifecycle).stop();
    endConnections(app.getHttpServer());
    await app.close();
    logger.info('stopped');
    // An exit writes buffered lines synchronously, and so before lines that are still being written.
    await flushLog(logger);
    process.exit(0);
  } catch (error) {
    logger.fatal({ err: error }, 'the graceful stop failed; the next start takes over the running executions');
    process.exit(1);
  }
}
