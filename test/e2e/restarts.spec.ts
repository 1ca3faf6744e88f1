import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board, tally } from './board.js';

const GATE = `globalThis.restartGates ??= [];
export default ([input], { attempt, executionId }) => new Promise((resolve) => globalThis.restartGates.push({ attempt, executionId, open: () => resolve({ n: input.payload.n, attempt }) }));`;

const CONFIG = `
agents:
  late: { consumes: [{ types: [Secret] }], publishes: [{ type: Revealed }], engine: { kind: expression, expression: '{"n": payload.n}' } }
  pairer: { consumes: [{ types: [Left, Right], join: { within: 10m } }], publishes: [{ type: Pair }], engine: { kind: expression, expression: '{"ok": true}' } }
  window: { consumes: [{ types: [Event], batch: { size: 10, timeout: 10m } }], publishes: [{ type: Digest }], engine: { kind: expression, expression: '{"size": size(payload)}' } }
  gate: { consumes: [{ types: [Gate] }], publishes: [{ type: Opened }], timeout: 1h, engine: { kind: function, module: ./gate.js } }
  unlucky: { consumes: [{ types: [Doomed] }], publishes: [{ type: Done }], retry: { attempts: 2, delay: 5m }, engine: { kind: function, module: ./unlucky.js } }
`;

const UNLUCKY = `export default async (inputs, { attempt }) => { if (attempt === 1) throw new Error('not yet'); return { attempt }; };`;

interface Gate {
  attempt: number;
  executionId: string;
  open(): void;
}

const gates = (): Gate[] => (globalThis as unknown as { restartGates?: Gate[] }).restartGates ?? [];

/** Uses the whole app over HTTP, stopped and started again on one SQLite file. The clock is faked. */
describe('after a restart', () => {
  const folder = new ConfigurationFolder();
  const clock = new ManualClock();
  let board: Board;

  const start = (): Promise<Board> =>
    Board.start(CONFIG, {
      clock,
      folder: folder.path,
      files: { 'gate.js': GATE, 'unlucky.js': UNLUCKY },
      settings: { shutdownGraceMs: 1_000 },
    });

  beforeEach(async () => {
    board = await start();
  });

  afterEach(() => board.close());
  afterAll(() => folder.remove());

  const restart = async (): Promise<void> => {
    let hasStopped = false;
    let passed = 0;
    const stopped = board.close().then(() => {
      hasStopped = true;
    });
    // The grace period ends by the clock, and may begin late if the app is slow to stop; timers that are due in minutes
    // are not due then.
    await eventually('the app has stopped', () => {
      if (!hasStopped && (passed += 20) <= 60_000) clock.advance(20);
      return hasStopped;
    });
    await stopped;
    board = await start();
  };

  it('releases hidden artifacts, closes windows and expires joins when they are due', async () => {
    const secret = await board.publish('Secret', { n: 1 }, { visibility: { kind: 'After', ttl: 'PT10M' } });
    const left = await board.publish('Left', {});
    const event = await board.publish('Event', {});
    await restart();
    for (const id of [secret, left, event]) expect(await board.status(id)).toMatchObject({ state: 'active' });
    clock.advance(10 * 60_000);
    for (const id of [secret, left, event]) await board.ended(id);
    expect(await board.types(secret)).toEqual(['Secret', 'Revealed']);
    expect(await board.types(left)).toEqual(['Left', 'WorkflowError']);
    expect(await board.types(event)).toEqual(['Event', 'Digest']);
  });

  it('continues with a half-filled join', async () => {
    const correlation = await board.publish('Left', {});
    await restart();
    await board.publish('Right', {}, { correlation });
    await board.ended(correlation);
    expect(tally(await board.types(correlation))).toEqual({ Left: 1, Right: 1, Pair: 1 });
  });

  it('retries when the retry is due', async () => {
    const correlation = await board.publish('Doomed', {});
    await eventually('the first attempt has failed', () =>
      board.app.logLines.some((line) => line.outcome === 'retried' && line.correlation_id === correlation),
    );
    await restart();
    expect(await board.status(correlation)).toMatchObject({ state: 'active' });
    clock.advance(7 * 60_000);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 0 });
  });

  it('repeats, as the same attempt, an execution that exceeded the shutdown grace', async () => {
    const before = gates().length;
    const correlation = await board.publish('Gate', { n: 5 });
    await eventually('it runs', () => gates().length === before + 1);
    await restart();
    await eventually('it runs again', () => gates().length === before + 2);
    const [first, second] = gates().slice(before);
    expect(second).toMatchObject({ attempt: 1, executionId: first!.executionId });
    first!.open();
    second!.open();
    await board.ended(correlation);
    expect(tally(await board.types(correlation))).toEqual({ Gate: 1, Opened: 1 });
  });
});
