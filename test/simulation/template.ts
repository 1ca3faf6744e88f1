import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { parse } from 'yaml';

import type { Catalog } from '../../src/catalog/catalog.js';
import { resolveSettings } from '../../src/config/resolve-settings.js';
import type { Settings } from '../../src/config/settings.js';
import { openDatabase } from '../../src/database/open-database.js';
import { loadConfiguration } from '../../src/engines/load-configuration.js';
import { EXPECTED, OTHERS } from '../faults/invariants.js';
import { LOG_EXECUTIONS } from '../flow/execution-log.js';
import { limitOptions } from '../flow/limit-options.js';
import { BUDGET } from './budget-invariants.js';
import { FLOW_AGENTS, LIMITS } from './flow-agents.js';
import { noteRefusedChanges } from './refused-changes.js';
import { noteChangedOriginals } from './repeat-invariants.js';

const WAREHOUSE = new URL('../faults/warehouse/', import.meta.url).pathname;

/**
 * Agents beside the warehouse: one that fails some attempts, one that fails for good while it is icy, one whose model has
 * a budget, one whose work is done by people, and one that judges the outputs of experiments.
 */
const MORE_AGENTS = {
  courier: {
    consumes: [{ types: ['Trip'] }],
    publishes: [{ type: 'Arrival' }],
    engine: { kind: 'expression', expression: '{"n": payload.n}' },
    retry: { attempts: 4, delay: '50ms', max_delay: '2s' },
  },
  leaper: {
    consumes: [{ types: ['Leap'] }],
    publishes: [{ type: 'Landing' }],
    engine: { kind: 'expression', expression: '{"n": payload.n}' },
    retry: { attempts: 1 },
  },
  writer: {
    consumes: [{ types: ['Topic'] }],
    publishes: [{ type: 'Essay' }],
    engine: { kind: 'expression', expression: '{"n": payload.n}' },
    budget: { tokens: BUDGET },
    concurrency: 4,
    retry: { attempts: 9, delay: '50ms', max_delay: '1s' },
  },
  approver: {
    consumes: [{ types: ['Plea'] }],
    publishes: [{ type: 'Approval' }],
    engine: { kind: 'external' },
    timeout: '20s',
    concurrency: 3,
    retry: { attempts: 30, delay: '50ms', max_delay: '1s' },
  },
  judge: {
    consumes: [{ types: ['Case'] }],
    publishes: [{ type: 'Verdict' }],
    engine: { kind: 'expression', expression: '{"score": payload.output.n}' },
  },
};

/** Longer than any life before its end. */
const RETAINED = '30d';
const RETAIN = Object.fromEntries(
  ['EXECUTIONS', 'RUNS', 'BATCHES', 'DELIVERIES'].map((what) => [`STARLING_RETAIN_${what}`, RETAINED]),
);

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
  const config = writeConfig(folder);
  const { catalog, server } = await loadConfiguration(config, {});
  const settings = resolveSettings({ flags: {}, environment: RETAIN, file: config, server });
  const database = await openDatabase(`sqlite:${join(folder, 'starling.db')}`);
  await database.close();
  noteChanges(join(folder, 'starling.db'));
  return { folder, catalog, settings, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Makes the database note what the invariants read. */
function noteChanges(file: string): void {
  const connection = new DatabaseSync(file);
  noteRefusedChanges(connection);
  noteChangedOriginals(connection);
  connection.exec(LOG_EXECUTIONS);
  // Each simulated life begins with a copy of the database file alone.
  connection.exec('pragma wal_checkpoint(truncate)');
  connection.close();
}

function writeConfig(folder: string): string {
  const text = readFileSync(join(WAREHOUSE, 'starling.yaml'), 'utf8').replaceAll(
    './agents/',
    join(WAREHOUSE, 'agents/'),
  );
  const warehouse = parse(text) as { agents: object; types: Record<string, object> };
  const limits = Object.fromEntries(LIMITS.map((rule) => [rule.name, limitOptions(rule)]));
  const types = Object.fromEntries(
    [...Object.keys(EXPECTED), ...OTHERS, 'WorkflowError'].map((name) => [
      name,
      { ...warehouse.types[name], retain: RETAINED },
    ]),
  );
  const file = join(folder, 'starling.json');
  const agents = { ...warehouse.agents, ...MORE_AGENTS, ...FLOW_AGENTS };
  writeFileSync(file, JSON.stringify({ ...warehouse, types, limits, agents }));
  return file;
}
