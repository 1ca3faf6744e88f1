import { existsSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Catalog } from '../../src/catalog/catalog.js';
import { resolveSettings } from '../../src/config/resolve-settings.js';
import type { Settings } from '../../src/config/settings.js';
import { openDatabase } from '../../src/database/open-database.js';
import { loadConfiguration } from '../../src/engines/load-configuration.js';

const CONFIG = new URL('../faults/warehouse/starling.yaml', import.meta.url).pathname;

// In memory where there is such a folder: the simulation decides what is synced, so no disk has to be waited for.
const MEMORY = '/dev/shm';

/** The configuration, and a migrated database without rows: every seed begins with them. */
export interface Template {
  folder: string;
  catalog: Catalog;
  settings: Settings;
  remove(): Promise<void>;
}

export async function makeTemplate(): Promise<Template> {
  const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'starling-simulation-'));
  const { catalog, server } = await loadConfiguration(CONFIG, {});
  const settings = resolveSettings({ flags: {}, environment: {}, file: CONFIG, server });
  const database = await openDatabase(`sqlite:${join(folder, 'starling.db')}`);
  await database.close();
  return { folder, catalog, settings, remove: () => rm(folder, { recursive: true, force: true }) };
}
