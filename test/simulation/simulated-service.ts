import 'reflect-metadata';

import { join } from 'node:path';
import { setImmediate as realTurn } from 'node:timers/promises';

import type { INestApplicationContext } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { pino } from 'pino';

import { BlackboardModule } from '../../src/blackboard/blackboard.module.js';
import type { Catalog } from '../../src/catalog/catalog.js';
import type { Settings } from '../../src/config/settings.js';
import { CoreModule } from '../../src/core.module.js';
import { Database } from '../../src/database/database.js';
import type { SqliteDatabase } from '../../src/database/dialects/sqlite-database.js';
import type { Engine } from '../../src/engines/engine.js';
import { AgentsModule } from '../../src/features/agents/agents.module.js';
import { ArtifactsModule } from '../../src/features/artifacts/artifacts.module.js';
import { BatchesModule } from '../../src/features/batches/batches.module.js';
import { ChangelogEventsService } from '../../src/features/changelog/changelog-events.service.js';
import { Resuming } from '../../src/features/changelog/resuming.js';
import { CorrelationsModule } from '../../src/features/correlations/correlations.module.js';
import { ExperimentsModule } from '../../src/features/experiments/experiments.module.js';
import { IdempotencyModule } from '../../src/features/idempotency/idempotency.module.js';
import { OperationsModule } from '../../src/features/operations/operations.module.js';
import { ReplayRoutesModule } from '../../src/features/replays/replay-routes.module.js';
import { RunsModule } from '../../src/features/runs/runs.module.js';
import { SchedulesModule } from '../../src/features/schedules/schedules.module.js';
import { WebhooksModule } from '../../src/features/webhooks/webhooks.module.js';
import { Outbound } from '../../src/http-client/outbound.js';
import type { Receivers } from './receivers.js';
import type { SeededScheduler } from './seeded-scheduler.js';

export interface ServiceParts {
  folder: string;
  catalog: Catalog;
  settings: Settings;
  engines: Engine[];
  receivers: Receivers;
  scheduler: SeededScheduler;
  /** Gets each line of the log from `error` on. */
  onError: (line: string) => void;
  /** Asked after each turn of the start. */
  isPowerLost: () => boolean;
}

/** The service in this process, without its HTTP edge. */
export class SimulatedService {
  private constructor(
    private readonly app: INestApplicationContext,
    readonly folder: string,
  ) {}

  /**
   * Starts it while the scheduler makes its turns, in which no time passes. Resolves with null if power is lost before
   * it is ready.
   */
  static async start({
    folder,
    catalog,
    settings,
    engines,
    receivers,
    scheduler,
    onError,
    isPowerLost,
  }: ServiceParts): Promise<SimulatedService | null> {
    const own = Object.assign(Object.create(Object.getPrototypeOf(settings) as object) as Settings, settings, {
      databaseUrl: `sqlite:${join(folder, 'starling.db')}`,
    });
    const logger = pino({ level: 'error' }, { write: onError });
    const takeIntervalsBack = takeIntervals(scheduler);
    try {
      const building = Test.createTestingModule({
        imports: [
          CoreModule.forRoot({ settings: own, catalog, logger, engines }),
          ScheduleModule.forRoot(),
          BlackboardModule,
          ArtifactsModule,
          CorrelationsModule,
          AgentsModule,
          RunsModule,
          BatchesModule,
          WebhooksModule,
          IdempotencyModule,
          OperationsModule,
          SchedulesModule,
          ReplayRoutesModule,
          ExperimentsModule,
        ],
        // Their module adds WebSockets to an HTTP server.
        providers: [ChangelogEventsService, Resuming],
      })
        .overrideProvider(Outbound)
        .useValue(receivers)
        .compile()
        .then((module) => module.init());
      const app = await pumped(building, scheduler, isPowerLost);
      return app && new SimulatedService(app, folder);
    } finally {
      takeIntervalsBack();
    }
  }

  get<T>(type: abstract new (...parts: never[]) => T): T {
    return this.app.get<T>(type, { strict: false });
  }

  get database(): SqliteDatabase {
    return this.get(Database) as SqliteDatabase;
  }
}

async function pumped<T>(
  promise: Promise<T>,
  scheduler: SeededScheduler,
  isPowerLost: () => boolean,
): Promise<T | null> {
  let isDone = false;
  const done = promise.finally(() => (isDone = true));
  done.catch(() => undefined);
  while (!isDone) {
    scheduler.stepInOrder();
    await realTurn();
    if (isPowerLost()) return null;
  }
  return done;
}

/** `@Interval` of @nestjs/schedule uses the global function, which is this one until the returned function is called. */
function takeIntervals(scheduler: SeededScheduler): () => void {
  const { setInterval: system } = globalThis;
  globalThis.setInterval = ((callback: () => void, ms: number) => scheduler.every(ms, callback)) as typeof setInterval;
  return () => {
    globalThis.setInterval = system;
  };
}
