import { InputMemory } from '../../src/blackboard/execution/input-memory.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { QUEUED } from '../support/queued-agents.js';
import { GATE, type Gate, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';

const MINUTE = 60_000;
const MIB = 1_024 ** 2;

const CONFIG = `
agents:
  gate: { consumes: [{ types: [Gated] }], publishes: [{ type: Passed }], engine: { kind: function, module: ./gate.js }, concurrency: 50, timeout: 2h, retry: { attempts: 3 } }
  echo: { consumes: [{ types: [Order] }], publishes: [{ type: Done }], engine: { kind: function, module: ./echo.js } }
  window: { consumes: [{ types: [Page], batch: { size: 20 } }], publishes: [{ type: Book }], engine: { kind: expression, expression: '{"pages": size(payload)}' } }
`;

/** 3.4 MiB of memory once it is parsed, with its overhead; two of them fit together. */
const LARGE = Array.from({ length: 40_000 }, () => ({}));
const AT_ONCE = 2;

/**
 * Uses the whole app over HTTP, stopped and started again on one database, with 8 MiB for inputs. The clock is faked.
 */
describe('executions whose inputs take much memory', () => {
  const folder = new ConfigurationFolder();
  const clock = new ManualClock();
  let board: Board;
  let memory: InputMemory;

  const start = async (): Promise<void> => {
    const settings = {
      shutdownGraceMs: 0,
      memoryBudgetBytes: 16 * MIB,
      maxConcurrentExecutions: 3,
      leaseMs: 60 * MINUTE,
    };
    board = await Board.start(CONFIG, { clock, folder: folder.path, files: { ...QUEUED, 'gate.js': GATE }, settings });
    memory = board.app.app.get(InputMemory, { strict: false });
  };

  beforeAll(start);

  afterEach(() => eventually('all memory is free', () => memory.usedBytes === 0 && !memory.isWaitedFor));

  afterAll(async () => {
    await board.close();
    await board.app.database.drop();
    folder.remove();
  });

  /** Publishes this many, each in a separate correlation, and waits until those that fit are running. */
  async function publishLarge(name: string, count: number, parts: { deadline?: string } = {}): Promise<string[]> {
    const correlations: string[] = [];
    for (let n = 0; n < count; n += 1)
      correlations.push(
        await board.publish('Gated', { n, batch: name, items: LARGE }, { correlation: `${name}-${n}`, ...parts }),
      );
    await started(name, Math.min(count, AT_ONCE));
    await eventually('all are claimed', async () => (await runningOf(name)) === count);
    return correlations;
  }

  const runningOf = async (name: string): Promise<number> =>
    (
      await board.app.database.rows(
        `select id from executions where state = 'running' and correlation_id like '${name}-%'`,
      )
    ).length;

  const open = (name: string): void => gatesOf(name).forEach((gate: Gate) => gate.open());

  async function finish(name: string, correlations: string[]): Promise<void> {
    for (const correlation of correlations) {
      await eventually(`${correlation} has finished`, async () => {
        open(name);
        return (await board.status(correlation)).state !== 'active';
      });
    }
  }

  it('run as memory allows, while small ones pass them, and take no slot of the process', async () => {
    const correlations = await publishLarge('many', 6);
    for (let n = 0; n < 5; n += 1) {
      expect(await board.publishSync('Order', { n })).toMatchObject({
        completed: true,
        artifacts: [{ payload: { n } }],
      });
    }
    expect(gatesOf('many')).toHaveLength(AT_ONCE);
    await eventually('the others wait for memory', async () =>
      /^starling_executions_waiting_for_memory 4$/m.test((await board.http.get('/metrics')).text),
    );
    expect(gatesOf('many')).toHaveLength(AT_ONCE);
    expect(memory.usedBytes).toBeLessThanOrEqual(memory.limitBytes);
    gatesOf('many')[0]!.open();
    await started('many', AT_ONCE + 1);
    await finish('many', correlations);
    for (const correlation of correlations) expect(await board.types(correlation)).toEqual(['Gated', 'Passed']);
    expect(gatesOf('many')).toHaveLength(6);
  });

  it('keep their leases while they wait, and their time limit begins when they have their inputs', async () => {
    const correlations = await publishLarge('leased', 3);
    const untilOf = async (): Promise<number[]> =>
      (
        await board.app.database.rows<{ lease_until: number }>(
          `select lease_until from executions where state = 'running' and correlation_id like 'leased-%'`,
        )
      ).map(({ lease_until }) => Number(lease_until));
    /**
     * Advances in steps that leave a lease time to be renewed, every 20 minutes and perhaps one time later, in a
     * transaction while the clock stands still.
     */
    const pass = async (minutes: number): Promise<void> => {
      for (let passed = 0; passed < minutes; passed += 5) {
        clock.advance(5 * MINUTE);
        await eventually('all leases are renewed', async () =>
          (await untilOf()).every((until) => until > clock.now() + 10 * MINUTE),
        );
      }
    };
    await pass(75);
    gatesOf('leased').forEach((gate) => gate.open());
    await started('leased', 3);
    await pass(60);
    await finish('leased', correlations);
    expect(await board.types('leased-2')).toEqual(['Gated', 'Passed']);
    expect(await board.app.database.rows(`select id from executions where lost_leases > 0`)).toEqual([]);
  });

  it.each([
    [
      'are cancelled',
      (correlation: string) => board.http.post(`/api/v1/correlations/${correlation}/cancel`).expect(200),
      {},
    ],
    ['reach their deadline', async () => clock.advance(MINUTE / 3), { deadline: 'PT20S' }],
  ])('%s while they wait, and those behind them continue', async (what, end, parts) => {
    const name = what.replaceAll(' ', '-');
    const [first, second] = await publishLarge(name, AT_ONCE);
    await board.publish('Gated', { n: AT_ONCE, batch: name, items: LARGE }, { correlation: `${name}-waits`, ...parts });
    await board.publish('Gated', { n: AT_ONCE + 1, batch: name, items: LARGE }, { correlation: `${name}-behind` });
    await eventually('both wait', async () => (await runningOf(name)) === AT_ONCE + 2);
    await end(`${name}-waits`);
    expect(await board.ended(`${name}-waits`)).toMatchObject({ state: 'cancelled' });
    await finish(name, [first!, second!, `${name}-behind`]);
    expect(
      gatesOf(name)
        .map(({ n }) => n)
        .sort(),
    ).toEqual([0, 1, AT_ONCE + 1]);
  });

  it('are released at a stop while they wait, and run after the next start', async () => {
    const correlations = await publishLarge('stopped', 3);
    await board.close();
    expect(
      await board.app.database.rows(`select state, lost_leases from executions where correlation_id like 'stopped-%'`),
    ).toEqual(Array(3).fill({ state: 'pending', lost_leases: 0 }));
    await start();
    await finish('stopped', correlations);
    expect(await board.types('stopped-2')).toEqual(['Gated', 'Passed']);
  });

  it.each([
    ['that are many', 20, 20_000],
    ['whose texts alone are too large', 20, 100_000],
  ])('fail for good with inputs %s, which can never fit', async (_name, count, size) => {
    const items = LARGE.concat(LARGE, LARGE).slice(0, size);
    for (let n = 0; n < count; n += 1) await board.publish('Page', { items }, { correlation: `book-${size}` });
    expect(await board.ended(`book-${size}`)).toMatchObject({ state: 'failed', error_count: 1 });
    const errors = (await board.artifacts(`book-${size}`)).filter(({ type }) => type === 'WorkflowError');
    expect(errors.map(({ payload }) => payload)).toMatchObject([
      { failed_agent: 'window', error_type: 'input', attempts: 1 },
    ]);
    expect(errors[0]!.payload.error_message).toMatch(
      /^its inputs need (at least )?\d+ MiB of memory, but memory_budget allows 7 MiB for the inputs of one execution; raise it to (at least )?\d+ MiB$/,
    );
  });

  it('run with many small inputs, which together are large', async () => {
    for (let n = 0; n < 20; n += 1)
      await board.publish('Page', { text: 'a page of words. '.repeat(500) }, { correlation: 'novel' });
    expect(await board.ended('novel')).toMatchObject({ state: 'completed' });
    expect((await board.artifacts('novel', { type: 'Book' })).map(({ payload }) => payload)).toEqual([{ pages: 20 }]);
  });
});
