import 'reflect-metadata';

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { ModuleMetadata } from '@nestjs/common';

import type { Catalog } from '../catalog/catalog.js';
import { Server } from '../cli/client/server.js';
import type { JsonObject } from '../common/json.js';
import { Lifecycle } from '../common/lifecycle.js';
import { type Environment, readEnvironment } from '../config/environment.js';
import { resolveSettings } from '../config/resolve-settings.js';
import type { Settings } from '../config/settings.js';
import { isOurVariable } from '../config/settings-table.js';
import { createApp } from '../create-app.js';
import { UnitOfWork } from '../database/unit-of-work.js';
import type { AgentClass } from '../engines/engine.js';
import { loadConfiguration } from '../engines/load-configuration.js';
import { createLogger } from '../observability/logging/create-logger.js';
import { type Answer, Answers } from './agent-answers.js';
import { withChosenVariants } from './chosen-variants.js';
import { ExternalWork } from './claimed-work.js';
import { ManualClock } from './manual-clock.js';
import { OpenWork } from './open-work.js';
import { RecordedModels } from './recorded-models.js';
import { RunningTestKit } from './running-test-kit.js';
import { testEngines } from './test-engines.js';
import type { TestKit } from './test-kit.js';

export interface TestKitOptions {
  /** The answers of agents that do not run, by their names. `TestKit.answer` adds more. */
  answers?: Record<string, Answer>;
  /** The variants with which agents run, by the names of the agents. Default: the agents' own options. */
  variants?: Record<string, string>;
  /**
   * File with the recorded answers of models. Models answer from it. With the environment variable `RECORD_MODELS=1`,
   * a request that is not in it goes to the model, and the answer is added to the file.
   */
  recordings?: string | URL;
  /** Classes with `@Agent`, in addition to the agents in the configuration. */
  agents?: AgentClass[];
  /** Nest modules that export what these classes inject. */
  imports?: ModuleMetadata['imports'];
  /** The time at the start, as a Date or an ISO 8601 text. Default: the current time. */
  now?: Date | string;
  /** Lowest level of log lines on standard output, such as `debug`. Default: `silent`. */
  logLevel?: string;
  /** Milliseconds of real time that a call waits for agents that run. Default: 30,000. */
  patience?: number;
}

export type StartTestKit = (configuration: string | URL | JsonObject, options?: TestKitOptions) => Promise<TestKit>;

const PATIENCE_MS = 30_000;

export const start: StartTestKit = async (configuration, options = {}) => {
  const folder = await mkdtemp(join(tmpdir(), 'starling-test-kit-'));
  const removeFolder = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    return await startIn(folder, await fileOf(configuration, folder), options, removeFolder);
  } catch (error) {
    await removeFolder();
    throw error;
  }
};

async function startIn(
  folder: string,
  file: string,
  options: TestKitOptions,
  removeFolder: () => Promise<void>,
): Promise<TestKit> {
  const { catalog, settings } = await readConfiguration(folder, file, options);
  const clock = new ManualClock(timeOf(options.now));
  const answers = new Answers(catalog, options.answers ?? {});
  const models = new RecordedModels(options.recordings === undefined ? null : pathOf(options.recordings));
  const lifecycle = new Lifecycle();
  const { agents, imports } = options;
  const app = await createApp({
    settings,
    catalog,
    logger: createLogger(settings),
    clock,
    lifecycle,
    agents,
    imports,
    engines: testEngines(answers, models),
  });
  await app.listen(0, '127.0.0.1');
  const server = new Server(await app.getUrl());
  const openWork = new OpenWork(app.get(UnitOfWork, { strict: false }), clock, catalog);
  const external = new ExternalWork(server, openWork, answers, catalog);
  const patience = options.patience ?? PATIENCE_MS;
  return new RunningTestKit(server, { catalog, clock, answers, models, openWork, external, patience }, async () => {
    lifecycle.stop();
    await app.close();
    await removeFolder();
  });
}

async function readConfiguration(
  folder: string,
  file: string,
  { agents, logLevel = 'silent', variants = {} }: TestKitOptions,
): Promise<{ catalog: Catalog; settings: Settings }> {
  const environment = withoutSettings(readEnvironment());
  const flags = {
    database_url: `sqlite:${join(folder, 'starling.db')}`,
    dashboard: 'false',
    create_ui: 'false',
    log_level: logLevel,
    // The clock stands still, so a grace period would never end.
    shutdown_grace: '0s',
  };
  const { catalog, server } = await loadConfiguration(file, environment, agents, flags);
  const settings = resolveSettings({ flags, environment, file, server });
  // The receivers of real webhooks get none from tests.
  return { catalog: withChosenVariants(catalog, variants), settings: Object.assign(settings, { webhookUrl: null }) };
}

/** A test does not depend on the settings of the shell that runs it. */
const withoutSettings = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !isOurVariable(name)));

const pathOf = (file: string | URL): string => (file instanceof URL ? fileURLToPath(file) : resolve(file));

async function fileOf(configuration: string | URL | JsonObject, folder: string): Promise<string> {
  if (typeof configuration === 'string' || configuration instanceof URL) return pathOf(configuration);
  const file = join(folder, 'starling.json');
  await writeFile(file, JSON.stringify(configuration));
  return file;
}

function timeOf(now: Date | string = new Date()): number {
  const time = new Date(now).getTime();
  if (Number.isNaN(time)) throw new Error(`now: must be a Date or a time such as 2026-11-20T10:00:00Z (got "${now}")`);
  return time;
}
