import { loadCatalog, type LoadedCatalog } from '../catalog/configuration-file/load-catalog.js';
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

function settingsOf(sources: SettingsSources): Settings | null {
  try {
    return resolveSettings(sources);
  } catch (error) {
    if (error instanceof SettingsError) return null;
    throw error;
  }
}
