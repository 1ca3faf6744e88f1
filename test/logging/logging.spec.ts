import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Logger } from 'pino';

import { DomainError } from '../../src/common/domain-error.js';
import { createLogger, flushLog } from '../../src/observability/logging/create-logger.js';
import { NestLogger } from '../../src/observability/logging/nest-logger.js';
import { eventually } from '../support/eventually.js';

const folder = mkdtempSync(join(tmpdir(), 'starling-logs-'));
afterAll(() => rmSync(folder, { recursive: true }));

type Line = Record<string, unknown>;

const linesOf = (path: string): Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);

/** Returns what a logger writes to a file, which is standard output when it is redirected. */
async function logged(use: (logger: Logger) => void, logLevel: 'info' | 'trace' = 'info'): Promise<Line[]> {
  const path = join(folder, 'log');
  const logger = createLogger({ logLevel }, { fd: openSync(path, 'w'), write: () => undefined });
  use(logger);
  await flushLog(logger);
  return linesOf(path);
}

describe('the log', () => {
  test('contains JSON lines with a UTC time and the level by name', async () => {
    const [line] = await logged((logger) => logger.info({ correlation_id: 'c1' }, 'hello'));
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      correlation_id: 'c1',
      msg: 'hello',
    });
  });

  test('keeps the order of its lines at any rate', async () => {
    const lines = await logged((logger) => {
      for (let n = 0; n < 1_000; n += 1) logger.info({ n }, 'line');
    });
    expect(lines.map(({ n }) => n)).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
  });

  (existsSync('/dev/full') ? test : test.skip)('does not stop the process if it cannot be written', async () => {
    const logger = createLogger({ logLevel: 'info' }, { fd: openSync('/dev/full', 'w'), write: () => undefined });
    for (let n = 0; n < 3; n += 1) {
      logger.info('nowhere to go');
      await flushLog(logger);
    }
  });

  test('omits entries below its level', async () => {
    expect(await logged((logger) => logger.debug('quiet'))).toEqual([]);
  });

  test('shows no secret that reaches it', async () => {
    const lines = await logged((logger) =>
      logger.info({ webhookSecret: 'hunter2', req: { headers: { authorization: 'hunter2', cookie: 'hunter2' } } }),
    );
    expect(JSON.stringify(lines)).not.toContain('hunter2');
  });

  test('has one line a second for each reason of a refusal, with its count and without a stack', async () => {
    const path = join(folder, 'trouble');
    const logger = createLogger({ logLevel: 'info' }, { fd: openSync(path, 'w'), write: () => undefined });
    const full = (): DomainError =>
      new DomainError('unavailable', 'the disk is full', { cause: new Error('database or disk is full') });
    for (let n = 0; n < 1_000; n += 1)
      logger.child({ agent: 'router' }).warn({ err: full(), request_id: n }, 'not stored');
    for (let n = 0; n < 10; n += 1) logger.error({ err: new DomainError('unavailable', 'no answer') }, 'not read');
    logger.info('in between');
    logger.error({ err: new Error('something else') }, 'a bug');
    const troubles = (): Line[] => linesOf(path).filter(({ reason }) => reason !== undefined);
    await eventually('the rest is logged', () => troubles().length === 4);
    await flushLog(logger);
    const cause = 'database or disk is full';
    expect(troubles()).toMatchObject([
      { level: 'warn', agent: 'router', request_id: 0, reason: 'the disk is full', cause, times: 1, msg: 'not stored' },
      { level: 'error', reason: 'no answer', times: 1, msg: 'not read' },
      {
        level: 'warn',
        agent: 'router',
        request_id: 999,
        reason: 'the disk is full',
        cause,
        times: 999,
        msg: 'not stored',
      },
      { level: 'error', reason: 'no answer', times: 9, msg: 'not read' },
    ]);
    expect(JSON.stringify(troubles())).not.toContain('stack');
    const others = linesOf(path).filter(({ reason }) => reason === undefined);
    expect(others).toMatchObject([
      { msg: 'in between' },
      { msg: 'a bug', err: { stack: expect.stringContaining('at ') as string } },
    ]);
    // After a second without it, it is logged immediately again.
    logger.warn({ err: full() }, 'not stored');
    await eventually('it is logged', () => troubles().length === 5);
    expect(troubles()[4]).toMatchObject({ times: 1 });
  });

  test('is readable on a terminal, and written immediately', () => {
    const written: string[] = [];
    createLogger({ logLevel: 'info' }, { fd: 1, isTTY: true, write: (text) => written.push(text) }).info(
      { agent: 'router' },
      'done',
    );
    expect(written.join('')).toContain('done');
    expect(written.join('')).toContain('router');
    expect(written.join('')).not.toContain('{"level"');
  });
});

describe("Nest's own lines", () => {
  test('keep their context; mapped routes are logged at debug', async () => {
    const lines = await logged((logger) => {
      const nest = new NestLogger(logger);
      nest.log('Mapped {/health, GET} route', 'RouterExplorer');
      nest.log('something happened', 'Scheduler');
      nest.verbose('details', 'Scheduler');
    }, 'trace');
    expect(lines).toMatchObject([
      { level: 'debug', context: 'RouterExplorer' },
      { level: 'info', context: 'Scheduler', msg: 'something happened' },
      { level: 'trace', context: 'Scheduler' },
    ]);
  });

  test('do not report a failed start a second time', async () => {
    expect(await logged((logger) => new NestLogger(logger).error(new Error('broken'), 'ExceptionHandler'))).toEqual([]);
  });

  test('keep the stack of an error, however it is passed', async () => {
    const error = new Error('broken');
    const lines = await logged((logger) => {
      const nest = new NestLogger(logger);
      nest.error(error, 'ExceptionsHandler');
      nest.error('broken', error.stack, 'ExceptionsHandler');
      nest.error('broken', error.stack);
    });
    expect(lines).toMatchObject([
      {
        context: 'ExceptionsHandler',
        err: { message: 'broken', stack: expect.stringContaining('at ') },
        msg: 'broken',
      },
      { context: 'ExceptionsHandler', stack: expect.stringContaining('at '), msg: 'broken' },
      { stack: expect.stringContaining('at '), msg: 'broken' },
    ]);
  });
});
