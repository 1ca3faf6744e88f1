import type { ModuleMetadata } from '@nestjs/common';
import type { Role } from '../common/role.js';
import type { AgentClass } from '../engines/engine.js';
import { createLogger } from '../observability/logging/create-logger.js';
import { startServer } from '../main.js';
import { configurationFile, missingFile, readConfiguration, refuseSplitRoles } from './configuration.js';

export interface StartOptions {
  /** Configuration file; `starling.yaml` in the working directory where absent. */
  config?: string;
  /** Settings by their names in the file, as texts; they come before the environment's and the file's. */
  flags?: Record<string, unknown>;
  /** Classes with `@Agent`, beside the agents of the file. */
  agents?: AgentClass[];
  /** Nest modules that export what these classes inject. */
  imports?: ModuleMetadata['imports'];
}

/** Reads the configuration and runs until a signal; rejects where the start fails. */
export async function start({ config, flags = {}, agents = [], imports = [] }: StartOptions, role: Role): Promise<void> {
  const file = configurationFile(config);
  if (file === undefined) throw missingFile();
  const configuration = await readConfiguration(file, flags, agents);
  refuseSplitRoles(configuration.settings, role);
  const logger = createLogger(configuration.settings);
  for (const warning of configuration.warnings) logger.warn(`${file}: ${warning}`);
  await startServer({ ...configuration, logger, role, agents, imports });
}
