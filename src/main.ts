import type { AddressInfo } from 'node:net';

import type { ModuleMetadata } from '@nestjs/common';

import type { Catalog } from './catalog/catalog.js';
import { describeDiagnostic } from './catalog/diagnostics.js';
import { configurationFile, missingFile, readConfiguration, refuseSplitRoles } from './cli/configuration.js';
import { DEVELOPMENT_DEFAULTS } from './cli/dev/development-defaults.js';
import { stopOnSignals } from './cli/graceful-stop.js';
import { addressText, callableUrl, isWildcard, listen, openWarning, withAddress } from './cli/listening.js';
import { welcome } from './cli/welcome.js';
import type { Logger } from './common/logger.js';
import type { Role } from './common/role.js';
import { readEnvironment } from './config/environment.js';
import { hasDashboard, type Settings } from './config/settings.js';
import { readTracingSettings } from './config/tracing-settings.js';
import type { AgentClass } from './engines/engine.js';
import { recordImports } from './engines/function/imported-modules.js';
import { createLogger } from './observability/logging/create-logger.js';
import { loadTracing } from './observability/tracing/load-tracing.js';

export interface StartOptions {
  /** Configuration file. Default: `starling.yaml` in the working directory. */
  config?: string;
  /** Settings as texts, by their names in the file. They override the environment and the file. */
  flags?: Record<string, unknown>;
  /** Classes with `@Agent`, in addition to the agents in the file. */
  agents?: AgentClass[];
  /** Nest modules that export what these classes inject. */
  imports?: ModuleMetadata['imports'];
}

export interface ServeOptions extends StartOptions {
  /** Whether this process also runs agents. If false, other processes on the same database do. Default: true. */
  worker?: boolean;
}

/** Serves until a signal. Rejects if the start fails. */
export const serve = ({ worker = true, ...options }: ServeOptions): Promise<void> =>
  start(options, { api: true, worker });

/** Runs agents until a signal, and answers only health and metrics. Rejects if the start fails. */
export const work = (options: StartOptions): Promise<void> => start(options, { api: false, worker: true });

/**
 * Serves as `starling dev` does: with other defaults, and with readable logs. `text` is used instead of the file's
 * content.
 */
export const develop = ({ text, ...options }: StartOptions & { text?: string }): Promise<void> =>
  start(options, { api: true, worker: true }, { defaults: DEVELOPMENT_DEFAULTS, text, isReadable: true });

/** More than V8 keeps of itself, because packages between an agent's file and the error take many. */
const FRAMES_OF_ERRORS = 50;

interface Development {
  defaults?: Readonly<Record<string, string>>;
  text?: string;
  /** Whether logs are readable where there is no terminal. */
  isReadable?: boolean;
}

/** Reads the configuration, builds the application, listens, and runs in this role until a signal. */
async function start(
  { config, flags = {}, agents = [], imports = [] }: StartOptions,
  role: Role,
  { defaults, text, isReadable }: Development = {},
): Promise<void> {
  const file = configurationFile(config);
  if (file === undefined) throw missingFile();
  recordImports();
  const { settings, catalog, warnings } = await readConfiguration(file, flags, {
    agentClasses: agents,
    defaults,
    text,
  });
  refuseSplitRoles(settings, role);
  if (settings.errorStacks) Error.stackTraceLimit = FRAMES_OF_ERRORS;
  const logger = createLogger(settings, process.stdout, isReadable);
  for (const warning of warnings) logger.warn(`${warning.file}: ${describeDiagnostic(warning)}`);
  endOnBugs(logger);
  const tracing = await loadTracing(readTracingSettings(readEnvironment()), logger);
  const bindable = await withAddress(settings);
  // Loading it takes most of the time until a service listens, and a wrong configuration never needs it.
  const { createApp } = await import('./create-app.js');
  const app = await createApp({ settings: bindable, catalog, logger, role, agents, imports, tracing });
  stopOnSignals(app, settings.shutdownGraceMs, logger);
  const bound = await listen(app, bindable.host, settings);
  announce(bound, settings, catalog, role, logger);
}

function announce(bound: AddressInfo, settings: Settings, catalog: Catalog, role: Role, logger: Logger): void {
  const url = callableUrl(bound);
  logger.info({ url, address: addressText(bound), agents: catalog.agents.length }, role.api ? 'serving' : 'working');
  const warning = role.api ? openWarning(bound, settings.allowedHosts) : null;
  if (warning !== null) logger.warn(warning);
  // Printed outside of the log: a command in a JSON line could not be copied into a shell.
  const wildcard = isWildcard(bound) ? addressText(bound) : null;
  console.error(welcome({ role, catalog, url, wildcard, dashboard: hasDashboard(settings) }));
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
