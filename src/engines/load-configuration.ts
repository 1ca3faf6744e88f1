import { loadCatalog, type LoadedCatalog } from '../catalog/load-catalog.js';
import type { Environment } from '../config/environment.js';
import { serverSettingsSchema } from '../config/settings-schema.js';
import type { AgentClass } from './engine.js';
import { FILE_ENGINES } from './engine-registry.js';
import { agentDefinitionOf } from './provider/agent.decorator.js';

/**
 * The catalog of a configuration file and of agent classes, checked with every engine and setting that there is.
 * CatalogError with every mistake at once.
 */
export function loadConfiguration(file: string, environment: Environment, agentClasses: readonly AgentClass[] = []): Promise<LoadedCatalog> {
  const classAgents = agentClasses.map(agentDefinitionOf);
  return loadCatalog({ file, environment, engines: FILE_ENGINES, serverSchema: serverSettingsSchema, classAgents });
}
