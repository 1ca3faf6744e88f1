import { type DynamicModule, Global, Injectable, Module, type Provider } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { pino } from 'pino';

import { Catalog } from '../../src/catalog/catalog.js';
import { ExpressionEvaluator } from '../../src/cel/evaluator.js';
import { EVALUATION_PROCESSES, MOST_WAITING } from '../../src/cel/language/expression-limits.js';
import { Clock } from '../../src/common/clock.js';
import { LOGGER } from '../../src/common/logger.js';
import { resolveSettings } from '../../src/config/resolve-settings.js';
import { Settings } from '../../src/config/settings.js';
import { type AgentClass, type PreparedEngine, PreparedEngines } from '../../src/engines/engine.js';
import { ALL_ENGINES, ENGINES } from '../../src/engines/engine-registry.js';
import { EnginesModule } from '../../src/engines/engines.module.js';
import { Resolver, SystemResolver } from '../../src/http-client/lookups.js';
import { Agent, type AgentArtifact, type ExecutionContext } from '../../src/index.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { ManualClock } from '../support/manual-clock.js';
import { catalogOf, context, inputsOf } from './running.js';

const clock = new ManualClock();

@Injectable()
class Queues {
  readonly names = ['cards', 'cash'];
}

@Agent({ name: 'router', consumes: [{ types: ['Ticket'] }], publishes: [{ type: 'Routing' }] })
class Router {
  constructor(private readonly queues: Queues) {}

  async execute([ticket]: AgentArtifact[], { attempt }: ExecutionContext): Promise<unknown> {
    const queue = this.queues.names[ticket!.payload.number as number];
    if (queue === undefined) throw new Error(`there is no queue ${String(ticket!.payload.number)}`);
    return { queue, attempt };
  }
}

@Global()
@Module({})
class Given {
  static forRoot(catalog: Catalog): DynamicModule {
    const providers: Provider[] = [
      { provide: Catalog, useValue: catalog },
      { provide: Clock, useValue: clock },
      { provide: LOGGER, useValue: pino({ level: 'silent' }) },
      { provide: Settings, useValue: resolveSettings({ flags: {}, environment: {}, server: {} }) },
      { provide: ENGINES, useValue: ALL_ENGINES },
      { provide: Resolver, useValue: new SystemResolver() },
    ];
    return { module: Given, providers, exports: providers };
  }
}

describe('engines in a Nest application', () => {
  const folder = new ConfigurationFolder();
  const running: TestingModule[] = [];
  afterAll(async () => {
    for (const module of running) await module.close();
    folder.remove();
  });

  async function engines(
    text: string,
    classes: AgentClass[] = [],
    providers: Provider[] = [],
  ): Promise<PreparedEngines> {
    const catalog = await catalogOf(folder, text, classes);
    const module = await Test.createTestingModule({
      imports: [Given.forRoot(catalog), EnginesModule],
      providers,
    }).compile();
    running.push(module);
    await module.init();
    return module.get(PreparedEngines, { strict: false });
  }

  test('an agent class is created with its injected providers, and answers with its execute method', async () => {
    const router = (await engines('types: {}', [Router], [Queues, Router])).for('router')!;
    expect(await router.run(inputsOf({ number: 1 }), context())).toEqual({ queue: 'cash', attempt: 2 });
    await expect(router.run(inputsOf({ number: 7 }), context())).rejects.toThrow('there is no queue 7');
  });

  test('an agent class that no module provides fails the start', async () => {
    await expect(engines('types: {}', [Router])).rejects.toThrow(/Router/);
  });

  test('an expression sees the payload, the first artifact and all inputs', async () => {
    const expression = `'{"text": payload.text, "by": artifact.produced_by, "count": size(inputs), "tag": inputs[0].tags[0]}'`;
    const prepared = await engines(
      `agents: { a: { consumes: [{ types: [Ticket] }], engine: { kind: expression, expression: ${expression} } } }`,
    );
    const answer = await prepared.for('a')!.run(inputsOf({ text: 'hi' }), context());
    expect(answer).toEqual({ text: 'hi', by: 'external', count: 1, tag: 'channel:chat' });
  });

  test('an expression that fails rejects with the reason', async () => {
    const prepared = await engines(
      'agents: { a: { consumes: [{ types: [Ticket] }], engine: { kind: expression, expression: payload.missing } } }',
    );
    await expect(prepared.for('a')!.run(inputsOf({}), context())).rejects.toThrow(/missing/);
  });

  describe('while too many expressions wait', () => {
    // Nested macros are never evaluated on the main thread.
    const ELSEWHERE = 'payload.list.map(x, [x].map(y, {"n": y})[0])';
    const CONFIGURATION = `agents: { a: { consumes: [{ types: [Ticket] }], engine: { kind: expression, expression: '${ELSEWHERE}' } } }`;

    /** Returns the agent, on a server whose evaluator accepts no more work until `relieved`. */
    async function overloaded(): Promise<{ agent: PreparedEngine; relieved: Promise<unknown> }> {
      const prepared = await engines(CONFIGURATION);
      const evaluator = running.at(-1)!.get(ExpressionEvaluator, { strict: false });
      const evaluate = () => evaluator.evaluate(ELSEWHERE, { payload: { list: [1] }, artifact: {}, inputs: [] });
      const relieved = Promise.all(Array.from({ length: EVALUATION_PROCESSES + MOST_WAITING }, evaluate));
      await expect(evaluate()).rejects.toMatchObject({ code: 'unavailable' });
      return { agent: prepared.for('a')!, relieved };
    }

    test('an expression retries, and its agent has an answer', async () => {
      const { agent, relieved } = await overloaded();
      const answered = expect(agent.run(inputsOf({ list: [1, 2] }), context())).resolves.toEqual([{ n: 1 }, { n: 2 }]);
      await relieved;
      clock.advance(1_000);
      await answered;
    });

    test('an expression stops retrying when it is aborted', async () => {
      const { agent, relieved } = await overloaded();
      const abort = new AbortController();
      const stopped = expect(
        agent.run(inputsOf({ list: [1] }), { ...context(), signal: abort.signal }),
      ).rejects.toThrow('time is up');
      await relieved;
      abort.abort(new Error('time is up'));
      await stopped;
    });
  });

  test('an unknown agent has no engine', async () => {
    expect((await engines('types: {}')).for('unknown')).toBeUndefined();
  });
});
