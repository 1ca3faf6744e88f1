import type { ModuleMetadata } from '@nestjs/common';

import type { Role } from '../common/role.js';
import type { AgentClass } from '../engines/engine.js';
import { startServer } from '../main.js';
import { createLogger } from '../observability/logging/create-logger.js';
import { configurationFile, missingFile, readConfiguration, refuseSplitRoles } from './configuration.js';

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

/** Reads the configuration and runs until a signal. Rejects if the start fails. */
export async function start(
  { config, flags = {}, agents = [], imports = [] }: StartOptions,
  role: Role,
): Promise<void> {
  const file = configurationFile(config);
  if (file === undefined) throw missingFile();
  const configuration = await readConfiguration(file, flags, agents);
  refuseSplitRoles(configuration.settings, role);
  const logger = createLogger(configuration.settings);
  for (const warning of configuration.warnings) logger.warn(`${file}: ${warning}`);
  await startServer({ ...configuration, logger, role, agents, imports });
}
