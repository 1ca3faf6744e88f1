import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import type { AppOptions } from './app.module.js';
import type { Configuration } from './cli/configuration.js';
import { stopOnSignals } from './cli/graceful-stop.js';
import { callableUrl, welcome } from './cli/welcome.js';
import type { Logger } from './common/logger.js';
import type { Role } from './common/role.js';
import { readEnvironment } from './config/environment.js';
import type { Settings } from './config/settings.js';
import { readTracingSettings } from './config/tracing-settings.js';
import { createApp } from './create-app.js';
import { StartError } from './database/start-error.js';
import { loadTracing } from './tracing/load-tracing.js';

export interface ServerOptions extends Configuration, Pick<AppOptions, 'agents' | 'imports'> {
  logger: Logger;
  role: Role;
}

/** Builds the application, listens, and does what its role is until a signal. StartError where the address cannot be had. */
export async function startServer(options: ServerOptions): Promise<void> {
  const { settings, catalog, logger, role } = options;
  endOnBugs(logger);
  tellWhatIsMissing(settings, role, logger);
  const tracing = await loadTracing(readTracingSettings(readEnvironment()), logger);
  const app = await createApp({ ...options, tracing });
  stopOnSignals(app, settings.shutdownGraceMs, logger);
  const url = await listen(app, settings);
  logger.info({ url, agents: catalog.agents.length }, role.serves ? 'serving' : 'working');
  // Beside the log, whatever its level: as a JSON line, a command could not be copied into a shell.
  console.error(welcome(role, catalog, url));
}

async function listen(app: INestApplication, { host, port }: Settings): Promise<string> {
  try {
    await app.listen(port, host);
  } catch (error) {
    await app.close();
    throw new StartError(whyNotListening((error as NodeJS.ErrnoException).code, host, port));
  }
  return callableUrl((app.getHttpServer() as { address(): AddressInfo }).address());
}

function whyNotListening(code: string | undefined, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `port: ${port} on ${host} is in use by another program; stop it, or choose another port with --port`;
    case 'EACCES':
      return `port: this user may not listen on ${port}; choose one above 1023 with --port`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `host: ${host} is no address of this machine; choose another with --host`;
    default:
      return `port: ${port} on ${host} cannot be had (${code}); choose another with --port or --host`;
  }
}

function tellWhatIsMissing({ createUi, dashboard }: Settings, { serves }: Role, logger: Logger): void {
  if (serves && (createUi || dashboard)) logger.warn(`${dashboard ? 'dashboard' : 'create_ui'}: this build has no web app yet; serving the API alone`);
}

/** After an error that nobody caught, what is in memory cannot be trusted; what is on disk can, and the next start goes on. */
function endOnBugs(logger: Logger): void {
  process.on('uncaughtException', (error, origin) => {
    logger.fatal({ err: error }, origin === 'unhandledRejection' ? 'unhandled rejection: ending' : 'uncaught exception: ending');
    process.exit(1);
  });
}
