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
import { describeFailure } from './failures.js';

const USUAL_FILE = 'starling.yaml';

export interface Configuration extends LoadedCatalog {
  settings: Settings;
}

export interface ConfigurationParts {
  /** Agents that are classes. */
  agentClasses?: readonly AgentClass[];
  /** Other defaults of settings, by name. */
  defaults?: Readonly<Record<string, string>>;
  /** Used instead of the file's content. */
  text?: string;
}

/**
 * Reads the configuration file, with the agents that are classes, and the settings from all sources. Throws an
 * AggregateError of a CatalogError and a SettingsError, so that all problems are reported together.
 */
export async function readConfiguration(
  file: string,
  flags: Record<string, unknown>,
  { agentClasses = [], defaults, text }: ConfigurationParts = {},
): Promise<Configuration> {
  const environment = readEnvironment();
  const loading = loadConfiguration(file, environment, agentClasses, flags, text);
  const section = loading.catch((error: unknown) => (error instanceof CatalogError ? error : Promise.reject(error)));
  const resolving = section.then(({ server }) => resolveSettings({ flags, environment, file, server, defaults }));
  const [loaded, settings] = await Promise.allSettled([loading, resolving]);
  if (loaded.status === 'fulfilled' && settings.status === 'fulfilled')
    return { ...loaded.value, settings: settings.value };
  throw new AggregateError(
    new Set(
      [loaded, settings].flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : [])),
    ),
  );
}

/** The file that `--config` names, or the default file if it exists. */
export const configurationFile = (named: string | undefined): string | undefined =>
  named ?? (existsSync(USUAL_FILE) ? USUAL_FILE : undefined);

/** Throws a StartError if a process on SQLite would leave a role to other processes, because there cannot be any. */
export function refuseSplitRoles({ databaseUrl }: Settings, { api, worker }: Role): void {
  if ((api && worker) || !databaseUrl.startsWith('sqlite:')) return;
  throw new StartError(
    'database_url: a SQLite file has a single process for all roles; use starling serve without --no-worker, or share a Postgres database',
  );
}

export const missingFile = (): StartError =>
  new StartError(`there is no ${USUAL_FILE} in this folder; name the configuration file with --config <file>`);

/** Prints the errors that `serve` would report for this file, and the warnings. Sets the exit code. */
export async function check(file: string): Promise<void> {
  try {
    const { warnings } = await readConfiguration(file, {});
    for (const warning of warnings) console.log(`warning: ${warning}`);
    console.log(`${file}: ok`);
  } catch (error) {
    console.log(describeFailure(error));
    process.exitCode = 1;
  }
}
