import type { Catalog } from '../catalog/catalog.js';
import { warningOfIgnored } from '../catalog/configuration-file/ignored-options.js';
import { loadCatalog, type LoadedCatalog } from '../catalog/configuration-file/load-catalog.js';
import { replayCatalog, type ServiceCatalog } from '../catalog/configuration-file/replay-catalog.js';
import { CatalogError, type Diagnostic } from '../catalog/diagnostics.js';
import type { Environment } from '../config/environment.js';
import { resolveSettings, SettingsError, type SettingsSources } from '../config/resolve-settings.js';
import type { Settings } from '../config/settings.js';
import { serverSettingsSchema } from '../config/settings-documents.js';
import type { AgentClass } from './engine.js';
import { FILE_ENGINES } from './engine-registry.js';
import { agentDefinitionOf } from './provider/agent.decorator.js';

/**
 * Loads the catalog of a configuration file and of agent classes, and checks it with all engines and settings. `flags`
 * are settings by name. `text` is used instead of the file's content. Throws CatalogError with all problems.
 */
export function loadConfiguration(
  file: string,
  environment: Environment,
  agentClasses: readonly AgentClass[] = [],
  flags: Readonly<Record<string, unknown>> = {},
  text?: string,
): Promise<LoadedCatalog> {
  const classAgents = agentClasses.map(agentDefinitionOf);
  const settings = (server: Record<string, unknown>) => settingsOf({ flags, environment, file, server });
  return loadCatalog({
    file,
    text,
    environment,
    engines: FILE_ENGINES,
    serverSchema: serverSettingsSchema,
    settings,
    classAgents,
  });
}

/** The configurations that replays may name. */
export interface ReplayCatalogs {
  /** By their names. */
  catalogs: Map<string, Catalog>;
  warnings: WarningOfFile[];
}

/** A warning, and the file that it is about. */
export type WarningOfFile = Diagnostic & { file: string };

/**
 * Loads the configurations that replays may name, with the settings of the service. Throws an AggregateError of a
 * CatalogError for each file that has problems.
 */
export async function loadReplayCatalogs(
  settings: Settings,
  service: ServiceCatalog,
  environment: Environment,
): Promise<ReplayCatalogs> {
  const catalogs = new Map<string, Catalog>();
  const warnings: WarningOfFile[] = [];
  const problems: CatalogError[] = [];
  for (const { name, file } of settings.replayConfigs) {
    try {
      const loaded = await loadCatalog({
        file,
        environment,
        engines: FILE_ENGINES,
        serverSchema: serverSettingsSchema,
        settings: () => settings,
      });
      catalogs.set(name, await replayCatalog(file, loaded, service, FILE_ENGINES, environment));
      const message = warningOfIgnored(loaded, service);
      if (message !== null) warnings.push({ file, path: '', message });
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      problems.push(error);
    }
  }
  if (problems.length > 0) throw new AggregateError(problems);
  return { catalogs, warnings };
}

function settingsOf(sources: SettingsSources): Settings | null {
  try {
    return resolveSettings(sources);
  } catch (error) {
    if (error instanceof SettingsError) return null;
    throw error;
  }
}
