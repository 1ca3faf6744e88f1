import { existsSync } from 'node:fs';
import type { LoadedCatalog } from '../catalog/configuration-file/load-catalog.js';
import { CatalogError } from '../catalog/diagnostics.js';
import type { Role } from '../common/role.js';
import { readEnvironment } from '../config/environment.js';
import { resolveSettings } from '../config/resolve-settings.js';
import type { Settings } from '../config/settings.js';
import { StartError } from '../database/start-error.js';
import type { AgentClass } from '../engines/engine.js';
import { loadConfiguration } from '../engines/load-configuration.js';

const USUAL_FILE = 'starling.yaml';

export interface Configuration extends LoadedCatalog {
  settings: Settings;
}

/**
 * The configuration file, with the agents that are written as classes, and the settings from everywhere. AggregateError of a
 * CatalogError and a SettingsError, so that everything that is wrong is reported together.
 */
export async function readConfiguration(
  file: string,
  flags: Record<string, unknown>,
  agentClasses: readonly AgentClass[] = [],
): Promise<Configuration> {
  const environment = readEnvironment();
  const loading = loadConfiguration(file, environment, agentClasses, flags);
  const section = loading.catch((error: unknown) => (error instanceof CatalogError ? error : Promise.reject(error)));
  const resolving = section.then(({ server }) => resolveSettings({ flags, environment, file, server }));
  const [loaded, settings] = await Promise.allSettled([loading, resolving]);
  if (loaded.status === 'fulfilled' && settings.status === 'fulfilled') return { ...loaded.value, settings: settings.value };
  throw new AggregateError(new Set([loaded, settings].flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))));
}

/** What `--config` names, or the usual file where there is one. */
export const configurationFile = (named: string | undefined): string | undefined => named ?? (existsSync(USUAL_FILE) ? USUAL_FILE : undefined);

/** StartError where a process on SQLite would leave part of what is to be done to processes that cannot be there. */
export function refuseSplitRoles({ databaseUrl }: Settings, { api, worker }: Role): void {
  if ((api && worker) || !databaseUrl.startsWith('sqlite:')) return;
  throw new StartError(
    'database_url: one process alone holds a SQLite file, and has to serve and work; use starling serve without --no-worker, or a Postgres database that several processes share',
  );
}

export const missingFile = (): StartError => new StartError(`there is no ${USUAL_FILE} here; name the configuration file with --config <file>`);
