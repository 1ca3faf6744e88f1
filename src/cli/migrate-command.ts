import { readEnvironment } from '../config/environment.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { openDatabase } from '../database/open-database.js';
import { configurationFile, readConfiguration } from './configuration.js';

/** Opens the database, which migrates it, and closes it again. Also works without a configuration file. */
export async function migrateDatabase(config: string | undefined, flags: Record<string, unknown>): Promise<void> {
  const file = configurationFile(config);
  const { settings } = file
    ? await readConfiguration(file, flags)
    : { settings: resolveSettings({ flags, environment: readEnvironment(), server: undefined }) };
  const database = await openDatabase(settings.databaseUrl);
  await database.close();
  for (const warning of database.warnings) console.error(`warning: ${warning}`);
  console.log(`${database.location} is up to date`);
}
