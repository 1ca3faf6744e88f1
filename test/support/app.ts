import 'reflect-metadata';

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import type { ModuleMetadata, Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { pino } from 'pino';
import request from 'supertest';

import type { Clock } from '../../src/common/clock.js';
import { Lifecycle } from '../../src/common/lifecycle.js';
import type { Role } from '../../src/common/role.js';
import type { Environment } from '../../src/config/environment.js';
import { resolveSettings } from '../../src/config/resolve-settings.js';
import type { Settings } from '../../src/config/settings.js';
import { readTracingSettings } from '../../src/config/tracing-settings.js';
import { createApp } from '../../src/create-app.js';
import type { AgentClass } from '../../src/engines/engine.js';
import { loadConfiguration, loadReplayCatalogs } from '../../src/engines/load-configuration.js';
import { endConnections } from '../../src/http/end-connections.js';
import type { Resolver } from '../../src/http-client/lookups.js';
import { loadTracing } from '../../src/observability/tracing/load-tracing.js';
import { databaseOf, type TestDatabase } from './database.js';

export interface TestAppOptions {
  /** The configuration file's text; without one, a catalog of no agents. */
  config?: string;
  /** An existing configuration file. */
  configFile?: string;
  /** Files to put beside the configuration, such as the modules of function agents, by their relative paths. */
  files?: Record<string, string>;
  /** The variables that `${NAME}` in the configuration refers to. */
  environment?: Environment;
  settings?: Partial<Settings>;
  clock?: Clock;
  /** Serves and works if absent. */
  role?: Role;
  /** OpenTelemetry's variables; it traces nothing if absent. */
  tracing?: Record<string, string>;
  /** Resolves the names of outbound URLs. */
  resolver?: Resolver;
  agents?: Type[];
  imports?: ModuleMetadata['imports'];
  /** The folder of an earlier application, to start again on its database; `close` then leaves it to that one. */
  folder?: string;
}

export interface TestApp {
  app: NestExpressApplication;
  /** Without a slash at its end. */
  url: string;
  http: ReturnType<typeof request>;
  lifecycle: Lifecycle;
  folder: string;
  database: TestDatabase;
  /** Every line of the log from `info` on, parsed. */
  logLines: Record<string, unknown>[];
  /** Stops as the program does, and deletes the folder and its database. */
  close(): Promise<void>;
}

const NO_AGENTS = 'agents: {}\n';

/** Starts the application as `main` builds it, on a free port, on the database of its folder. */
export async function startApp(options: TestAppOptions = {}): Promise<TestApp> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'starling-test-')));
  const file = await writeFiles(folder, options);
  const { catalog, server, spelled } = await loadConfiguration(
    file,
    options.environment ?? {},
    (options.agents ?? []) as AgentClass[],
  );
  const defaults = resolveSettings({ flags: {}, environment: {}, file, server });
  const database = await databaseOf(folder);
  const settings: Settings = Object.assign(
    defaults,
    // Few tests need the web app, which has to be built.
    { databaseUrl: database.url, shutdownGraceMs: 2_000, createUi: false, dashboard: false },
    options.settings,
  );
  const service = { file, catalog, spelled };
  const { catalogs } = await loadReplayCatalogs(settings, service, options.environment ?? {});
  const logLines: Record<string, unknown>[] = [];
  const logger = pino(
    { level: settings.logLevel },
    { write: (line) => void logLines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const lifecycle = new Lifecycle();
  const { agents, clock, imports, resolver, role } = options;
  const tracing = await withVariables(options.tracing ?? {}, (environment) =>
    loadTracing(readTracingSettings(environment), logger),
  );
  const app = await createApp({
    settings,
    catalog: catalog.withReplayCatalogs(catalogs),
    logger,
    lifecycle,
    role,
    clock,
    resolver,
    tracing,
    agents,
    imports,
  });
  await app.listen(0, '127.0.0.1');
  const close = async (): Promise<void> => {
    lifecycle.stop();
    endConnections(app.getHttpServer());
    await app.close();
    if (options.folder) return;
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  };
  return {
    app,
    url: await app.getUrl(),
    http: request(app.getHttpServer()),
    lifecycle,
    folder,
    database,
    logLines,
    close,
  };
}

/** Sets them on the process, because the SDK reads them there. */
async function withVariables<T>(
  variables: Record<string, string>,
  work: (variables: Record<string, string>) => Promise<T>,
): Promise<T> {
  Object.assign(process.env, variables);
  try {
    return await work(variables);
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
}

async function writeFiles(
  folder: string,
  { config = NO_AGENTS, configFile, files = {} }: TestAppOptions,
): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  if (configFile) return configFile;
  const file = join(folder, 'starling.yaml');
  await writeFile(file, config);
  return file;
}
