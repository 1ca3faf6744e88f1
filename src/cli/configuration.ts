import { existsSync } from 'node:fs';

import type { LoadedCatalog } from '../catalog/configuration-file/load-catalog.js';
import { CatalogError, type ConfigurationSource, type Diagnostic, inOrder } from '../catalog/diagnostics.js';
import type { Role } from '../common/role.js';
import { readEnvironment } from '../config/environment.js';
import {
  resolveSettings,
  type SettingProblem,
  SettingsError,
  type SettingsSources,
} from '../config/resolve-settings.js';
import type { Settings } from '../config/settings.js';
import { StartError } from '../database/start-error.js';
import type { AgentClass } from '../engines/engine.js';
import { loadConfiguration, loadReplayCatalogs, type WarningOfFile } from '../engines/load-configuration.js';

const USUAL_FILE = 'starling.yaml';

export interface Configuration extends LoadedCatalog {
  warnings: WarningOfFile[];
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
 * Reads the configuration file, with the agents that are classes, the settings from all sources, and then the
 * configurations that replays may name. Throws an AggregateError of CatalogErrors and a SettingsError, so that all
 * problems of these steps are reported together.
 */
export async function readConfiguration(
  file: string,
  flags: Record<string, unknown>,
  { agentClasses = [], defaults, text }: ConfigurationParts = {},
): Promise<Configuration> {
  const environment = readEnvironment();
  const loading = loadConfiguration(file, environment, agentClasses, flags, text);
  const loaded = await loading.catch((error: unknown) =>
    error instanceof CatalogError ? error : Promise.reject(error),
  );
  const source = loaded instanceof CatalogError ? loaded.source : loaded;
  const settings = settingsOrError({ flags, environment, file, server: source?.server, defaults });
  if (loaded instanceof CatalogError || settings instanceof SettingsError)
    throw new AggregateError(problemsIn(file, loaded, settings, source));
  const { catalogs, warnings } = await loadReplayCatalogs(settings, { file, ...loaded }, environment);
  return {
    ...loaded,
    catalog: loaded.catalog.withReplayCatalogs(catalogs),
    warnings: [...loaded.warnings.map((warning) => ({ file, ...warning })), ...warnings],
    settings,
  };
}

function settingsOrError(sources: SettingsSources): Settings | SettingsError {
  try {
    return resolveSettings(sources);
  } catch (error) {
    if (error instanceof SettingsError) return error;
    throw error;
  }
}

const IN_FILE = 'server.';

/** Settings in the file are reported with the other problems of the file, and with their places. */
function problemsIn(
  file: string,
  catalog: LoadedCatalog | CatalogError,
  settings: Settings | SettingsError,
  source: ConfigurationSource | undefined,
): Error[] {
  const inFile: Diagnostic[] = [];
  const elsewhere: SettingProblem[] = [];
  for (const problem of settings instanceof SettingsError ? settings.problems : []) {
    const names = problem.about ?? (problem.source.startsWith(IN_FILE) ? [problem.source.slice(IN_FILE.length)] : []);
    const name = names.find((each) => source && each in source.server);
    const place = name === undefined ? undefined : source?.placeOf(['server', name]);
    if (place) inFile.push({ path: problem.source, ...place, message: problem.message });
    else elsewhere.push(problem);
  }
  const diagnostics = inOrder([...(catalog instanceof CatalogError ? catalog.diagnostics : []), ...inFile]);
  return [
    ...(diagnostics.length > 0 ? [new CatalogError(file, diagnostics, source)] : []),
    ...(elsewhere.length > 0 ? [new SettingsError(elsewhere)] : []),
  ];
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
