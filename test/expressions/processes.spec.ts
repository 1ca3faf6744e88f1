import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

import { ExpressionEvaluator } from '../../src/cel/evaluator.js';
import { ExpressionsModule } from '../../src/cel/expressions.module.js';
import type { EvaluationResult } from '../../src/cel/language/expression-program.js';
import { DomainError } from '../../src/common/domain-error.js';
import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';

const ENDLESS = 'payload.l.all(a, payload.l.all(b, payload.l.all(c, payload.l.all(d, a + b + c + d > 0.0))))';
const HOSTILE = { l: new Array<number>(500).fill(1) };
const TOO_LONG: EvaluationResult = { ok: false, error: 'takes longer than 1000 ms' };
// Its time is not proportional to its input's size, so it is never evaluated on the main thread.
const INNOCENT = 'payload.l.all(x, [x].all(y, y == 1))';
const TRUE: EvaluationResult = { ok: true, value: true };

const TRIES = 5;

/** Repeats an evaluation that timed out because other processes had the CPU: all but ENDLESS take little time. */
async function evaluate(evaluator: ExpressionEvaluator, source: string, payload: unknown): Promise<EvaluationResult> {
  for (let count = 1; ; count += 1) {
    const result = await evaluator.evaluate(source, { payload, artifact: {}, inputs: [] });
    const isTooLong = !result.ok && 'error' in TOO_LONG && result.error === TOO_LONG.error;
    if (!isTooLong || source === ENDLESS || count === TRIES) return result;
  }
}

/** Returns the evaluation processes of `parent`. */
function evaluationProcesses(parent = process.pid): number[] {
  const all = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return all.filter((pid) => parentOf(pid) === parent && commandOf(pid).includes('evaluation-entry'));
}

const parentOf = (pid: number): number => Number(/\) . (\d+)/.exec(read(pid, 'stat'))?.[1]);
const commandOf = (pid: number): string => read(pid, 'cmdline');
const isRunning = (pid: number): boolean => commandOf(pid) !== '';

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

describe('evaluation processes', () => {
  let evaluator: ExpressionEvaluator;

  beforeEach(() => {
    evaluator = new ExpressionEvaluator();
  });
  afterEach(() => evaluator.close());

  const SMALL = {
    items: [
      { sku: 'a', price: 2 },
      { sku: 'b', price: 5 },
    ],
    least: 4,
    skus: ['b', 'c'],
  };
  const inline: [source: string, payload: unknown, value: unknown][] = [
    ['size(payload.l) > 3', HOSTILE, true],
    ['payload.items.exists(i, i.sku == "b")', SMALL, true],
    ['payload.items.all(i, i.price > payload.least)', SMALL, false],
    ['payload.items.exists_one(i, i.sku in payload.skus)', SMALL, true],
    [
      'payload.items.filter(i, i.price > payload.least).map(i, {"sku": i.sku, "of": payload.skus})',
      SMALL,
      [{ sku: 'b', of: ['b', 'c'] }],
    ],
    ['payload.items.map(i, i.price > 4.0, i.sku)', SMALL, ['b']],
    ['payload.map(i, i.n)', Array.from({ length: 100 }, (_, n) => ({ n })), Array.from({ length: 100 }, (_, n) => n)],
    ['payload.exists(key, key == "sku")', { sku: 'a', price: 2 }, true],
  ];
  it.each(inline)('are not needed for %s over a small payload', async (source, payload, value) => {
    expect(await evaluate(evaluator, source, payload)).toEqual({ ok: true, value });
    expect(evaluationProcesses()).toEqual([]);
  });

  it('are started when an expression needs one', async () => {
    expect(await evaluate(evaluator, 'payload.l.all(x, x == 1)', { l: new Array<number>(5_000).fill(1) })).toEqual(
      TRUE,
    );
    expect(evaluationProcesses()).toHaveLength(1);
  });

  it('serve a harmless expression before the queue of a hostile one, which fails alone', async () => {
    const ended: string[] = [];
    const hostile = Array.from({ length: 6 }, () =>
      evaluate(evaluator, ENDLESS, HOSTILE).finally(() => ended.push('hostile')),
    );
    const innocent = Array.from({ length: 20 }, () =>
      evaluate(evaluator, INNOCENT, HOSTILE).finally(() => ended.push('innocent')),
    );
    expect(await Promise.all(innocent)).toEqual(innocent.map(() => TRUE));
    expect(await Promise.all(hostile)).toEqual(hostile.map(() => TOO_LONG));
    expect(ended.indexOf('innocent')).toBeLessThanOrEqual(2);
    expect(ended.slice(-4)).toEqual(['hostile', 'hostile', 'hostile', 'hostile']);
  });

  it('are limited to two', async () => {
    const many = Array.from({ length: 50 }, () => evaluate(evaluator, INNOCENT, HOSTILE));
    expect(await Promise.all(many)).toEqual(many.map(() => TRUE));
    expect(evaluationProcesses()).toHaveLength(2);
  });

  it('run out of memory without harm to the server', async () => {
    const payload = { s: 'x'.repeat(2 ** 20), l: HOSTILE.l };
    const result = await evaluate(evaluator, 'payload.l.map(x, payload.s).join("").lowerAscii()', payload);
    // Filling the memory may take longer than a second on a busy machine.
    expect([{ ok: false, error: 'needs more than 256 MB of memory' }, TOO_LONG]).toContainEqual(result);
    expect(await evaluate(evaluator, INNOCENT, HOSTILE)).toEqual(TRUE);
  });

  it('are replaced if they are killed, and the evaluation is repeated', async () => {
    await evaluate(evaluator, INNOCENT, HOSTILE);
    const [first] = evaluationProcesses();
    const result = evaluate(evaluator, 'payload.l.all(a, payload.l.all(b, a == b))', { l: HOSTILE.l.slice(0, 100) });
    process.kill(first!, 'SIGKILL');
    expect(await result).toEqual(TRUE);
    expect(evaluationProcesses()).not.toContain(first);
  });

  it('survive the signals that a terminal sends to the process group', async () => {
    await evaluate(evaluator, INNOCENT, HOSTILE);
    const before = evaluationProcesses();
    for (const signal of ['SIGINT', 'SIGTERM']) process.kill(before[0]!, signal);
    expect(await evaluate(evaluator, INNOCENT, HOSTILE)).toEqual(TRUE);
    expect(evaluationProcesses()).toEqual(before);
  });

  it('exit on close, and their evaluations can be tried again', async () => {
    const unended = Array.from({ length: 3 }, () => evaluate(evaluator, ENDLESS, HOSTILE));
    await eventually('both are running', () => evaluationProcesses().length === 2);
    const outcomes = Promise.allSettled(unended);
    await evaluator.close();
    expect(evaluationProcesses()).toEqual([]);
    // On a busy machine the time of the first ones may be over before.
    const ended = (await outcomes).filter((outcome) => outcome.status !== 'fulfilled' || outcome.value.ok);
    expect(ended.length).toBeGreaterThan(0);
    for (const outcome of ended) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(DomainError) as unknown });
      expect(outcome).toMatchObject({ reason: { code: 'unavailable' } });
    }
    await expect(evaluate(evaluator, INNOCENT, HOSTILE)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

it('is closed with the application', async () => {
  class AppModule {}
  Module({ imports: [ExpressionsModule] })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  expect(await evaluate(app.get(ExpressionEvaluator), INNOCENT, HOSTILE)).toEqual(TRUE);
  expect(evaluationProcesses()).toHaveLength(1);
  await app.close();
  expect(evaluationProcesses()).toEqual([]);
});

describe('the built program', () => {
  /** Runs Node with the built evaluator; `body` runs in an async function and has `evaluate`. */
  async function program(body: string): Promise<ChildProcess> {
    const built = join(dirname(await builtProgram()), '../dist/cel/evaluator.js');
    const evaluation = `new ExpressionEvaluator().evaluate(source, { payload: ${JSON.stringify(HOSTILE)}, artifact: {}, inputs: [] })`;
    const script = `import { ExpressionEvaluator } from ${JSON.stringify(built)}; const evaluate = (source) => ${evaluation}; ${body}`;
    return spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  }

  it('evaluates, and exits by itself while its evaluation process is idle', async () => {
    const child = await program(`console.log(JSON.stringify(await evaluate(${JSON.stringify(INNOCENT)})))`);
    const [output, [code]] = await Promise.all([text(child.stdout!), once(child, 'exit') as Promise<[number]>]);
    expect(JSON.parse(output)).toEqual(TRUE);
    expect(code).toBe(0);
  });

  it('leaves no evaluation behind when it is killed during one', async () => {
    const child = await program(
      `await evaluate(${JSON.stringify(INNOCENT)}); console.log('evaluating'); await evaluate(${JSON.stringify(ENDLESS)})`,
    );
    await once(child.stdout!, 'data');
    const [evaluation] = evaluationProcesses(child.pid);
    expect(isRunning(evaluation!)).toBe(true);
    child.kill('SIGKILL');
    await eventually('the evaluation process ends', () => !isRunning(evaluation!));
  });
});
