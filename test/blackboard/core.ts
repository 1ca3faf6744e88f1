import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Global, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { pino } from 'pino';

import { BlackboardModule } from '../../src/blackboard/blackboard.module.js';
import { CorrelationWaiters } from '../../src/blackboard/correlations/correlation-waiters.js';
import { Cancellation } from '../../src/blackboard/execution/cancellation.js';
import { Publisher } from '../../src/blackboard/publishing/publisher.js';
import { WaitingArrivals } from '../../src/blackboard/scheduling/waiting-arrivals.js';
import { Catalog } from '../../src/catalog/catalog.js';
import type { AgentDefinition, ArtifactType, Subscription } from '../../src/catalog/definitions.js';
import { Clock, SystemClock } from '../../src/common/clock.js';
import type { JsonObject } from '../../src/common/json.js';
import { Lifecycle } from '../../src/common/lifecycle.js';
import { LOGGER } from '../../src/common/logger.js';
import { defaultMemoryBudget, MemoryBudget } from '../../src/common/memory-budget.js';
import { Role } from '../../src/common/role.js';
import { Telemetry } from '../../src/common/telemetry.js';
import { Settings } from '../../src/config/settings.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { type PreparedEngine, PreparedEngines } from '../../src/engines/engine.js';
import { ENGINES } from '../../src/engines/engine-registry.js';
import { Resolver, SystemResolver } from '../../src/http-client/lookups.js';
import { NoTracing, Tracing } from '../../src/observability/tracing/tracing.js';
import { Signals } from '../../src/pubsub/signals.js';
import { databaseOf } from '../support/database.js';

export const anyObject = (name: string): ArtifactType => ({
  name,
  version: 1,
  description: '',
  schema: null,
  retainMs: null,
  accept: (payload) => ({ payload: payload as JsonObject }),
});

export const subscription = (
  agent: string,
  index: number,
  parts: Partial<Subscription> & { types: string[] },
): Subscription => ({
  agent,
  index,
  mode: 'all',
  where: null,
  fromAgents: [],
  tags: [],
  join: null,
  batch: null,
  debounce: null,
  priority: 0,
  priorityBy: null,
  allowSelf: false,
  ...parts,
});

export const agent = (
  name: string,
  consumes: (Partial<Subscription> & { types: string[] })[],
  publishes: string[],
  parts: Partial<AgentDefinition> = {},
): AgentDefinition => ({
  name,
  description: '',
  labels: [],
  tenantId: null,
  subscriptions: consumes.map((part, index) => subscription(name, index, part)),
  outputs: publishes.map((type) => ({ type, visibility: { kind: 'Public' }, tags: [] })),
  engine: { kind: 'test' },
  timeoutMs: 5_000,
  concurrency: 4,
  retry: { attempts: 3, delayMs: 1, maxDelayMs: 2 },
  budget: null,
  limits: [],
  fairness: null,
  cancelOn: null,
  cache: null,
  singleton: null,
  breaker: null,
  variants: null,
  ...parts,
});

class SilentTelemetry extends Telemetry {
  executionEnded(): void {}
  executionClaimed(): void {}
  deliveryTried(): void {}
  deliveriesGivenUp(): void {}
  transactionEnded(): void {}
  predicateFailed(): void {}
  timerFailed(): void {}
  streamsOpen(): void {}
  modelUsed(): void {}
}

export interface Core {
  publisher: Publisher;
  waiters: CorrelationWaiters;
  cancellation: Cancellation;
  arrivals: WaitingArrivals;
  unitOfWork: UnitOfWork;
  signals: Signals;
  databaseUrl: string;
  close(): Promise<void>;
}

/** The core alone, on its own database, with functions as engines. All other parts are those of the program. */
export async function startCore(
  catalog: Catalog,
  engines: Record<string, PreparedEngine>,
  overrides: Partial<Settings> = {},
  clock: Clock = new SystemClock(),
): Promise<Core> {
  const folder = await mkdtemp(join(tmpdir(), 'starling-core-'));
  const database = await databaseOf(folder);
  const settings = Object.assign(new Settings(), {
    databaseUrl: database.url,
    maxPendingExecutions: 100_000,
    maxWaitingArrivals: Infinity,
    maxTtlMs: Infinity,
    bodyLimitBytes: 2 ** 20,
    maxExecutionsPerCorrelation: 1_000,
    maxConcurrentExecutions: 64,
    shutdownGraceMs: 5_000,
    leaseMs: 30_000,
    outboundAllow: [],
    retainExecutionsMs: null,
    retainKeysMs: 86_400_000,
    ...overrides,
  });

  @Global()
  @Module({
    providers: [
      { provide: Settings, useValue: settings },
      { provide: Catalog, useValue: catalog },
      { provide: Clock, useValue: clock },
      { provide: Lifecycle, useValue: new Lifecycle() },
      { provide: MemoryBudget, useValue: new MemoryBudget(defaultMemoryBudget()) },
      { provide: Role, useValue: new Role() },
      { provide: Resolver, useValue: new SystemResolver() },
      { provide: Telemetry, useClass: SilentTelemetry },
      { provide: Tracing, useClass: NoTracing },
      { provide: ENGINES, useValue: [] },
      { provide: LOGGER, useValue: pino({ level: process.env.STARLING_TEST_LOG ?? 'silent' }) },
    ],
    exports: [Settings, Catalog, Clock, ENGINES, Lifecycle, MemoryBudget, Role, Telemetry, Tracing, LOGGER, Resolver],
  })
  class TestCoreModule {}

  @Module({ imports: [TestCoreModule, BlackboardModule] })
  class TestModule {}

  const context = await Test.createTestingModule({ imports: [TestModule] })
    .overrideProvider(PreparedEngines)
    .useValue(new PreparedEngines(new Map(Object.entries(engines))))
    .compile();
  await context.init();
  return {
    publisher: context.get(Publisher, { strict: false }),
    waiters: context.get(CorrelationWaiters, { strict: false }),
    cancellation: context.get(Cancellation, { strict: false }),
    arrivals: context.get(WaitingArrivals, { strict: false }),
    unitOfWork: context.get(UnitOfWork, { strict: false }),
    signals: context.get(Signals, { strict: false }),
    databaseUrl: database.url,
    async close() {
      await context.close();
      await database.drop();
      await rm(folder, { recursive: true });
    },
  };
}
