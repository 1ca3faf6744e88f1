import type { AppOptions } from './app.module.js';
import type { Configuration } from './cli/configuration.js';
import { stopOnSignals } from './cli/graceful-stop.js';
import { addressText, callableUrl, isWildcard, listen, openWarning, withAddress } from './cli/listening.js';
import { welcome } from './cli/welcome.js';
import type { Logger } from './common/logger.js';
import type { Role } from './common/role.js';
import { readEnvironment } from './config/environment.js';
import type { Settings } from './config/settings.js';
import { readTracingSettings } from './config/tracing-settings.js';
import { createApp } from './create-app.js';
import { loadTracing } from './observability/tracing/load-tracing.js';

export interface ServerOptions extends Configuration, Pick<AppOptions, 'agents' | 'imports'> {
  logger: Logger;
  role: Role;
}

/** Builds the application, listens, and runs in its role until a signal. Throws a StartError if it cannot listen. */
export async function startServer(options: ServerOptions): Promise<void> {
  const { settings, catalog, logger, role } = options;
  endOnBugs(logger);
  warnAboutMissingApp(settings, role, logger);
  const tracing = await loadTracing(readTracingSettings(readEnvironment()), logger);
  const bindable = await withAddress(settings);
  const app = await createApp({ ...options, settings: bindable, tracing });
  stopOnSignals(app, settings.shutdownGraceMs, logger);
  const bound = await listen(app, bindable.host, settings);
  const url = callableUrl(bound);
  logger.info({ url, address: addressText(bound), agents: catalog.agents.length }, role.api ? 'serving' : 'working');
  const warning = role.api ? openWarning(bound, settings.allowedHosts) : null;
  if (warning !== null) logger.warn(warning);
  // Printed outside of the log: a command in a JSON line could not be copied into a shell.
  console.error(welcome(role, catalog, url, isWildcard(bound) ? addressText(bound) : null));
}

function warnAboutMissingApp({ createUi, dashboard }: Settings, { api }: Role, logger: Logger): void {
  if (api && (createUi || dashboard))
    logger.warn(`${dashboard ? 'dashboard' : 'create_ui'}: this build has no web app yet; serving only the API`);
}

/**
 * After an uncaught error the state in memory cannot be trusted. The state on disk can, and the next start continues
 * from it.
 */
function endOnBugs(logger: Logger): void {
  process.on('uncaughtException', (error, origin) => {
    logger.fatal(
      { err: error },
      origin === 'unhandledRejection' ? 'unhandled rejection: ending' : 'uncaught exception: ending',
    );
    process.exit(1);
  });
}
