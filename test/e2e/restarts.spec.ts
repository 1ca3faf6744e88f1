import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { Board, tally } from './board.js';

const GATE = `globalThis.restartGates ??= [];
export default ([input], { attempt, executionId }) => new Promise((resolve) => globalThis.restartGates.push({ attempt, executionId, open: () => resolve({ n: input.payload.n, attempt }) }));`;

const AGENTS = {
  late: `{ consumes: [{ types: [Secret] }], publishes: [{ type: Revealed }], engine: { kind: expression, expression: '{"n": payload.n}' } }`,
  pairer: `{ consumes: [{ types: [Left, Right], join: { within: 10m } }], publishes: [{ type: Pair }], engine: { kind: expression, expression: '{"ok": true}' } }`,
  window: `{ consumes: [{ types: [Event], batch: { size: 10, timeout: 10m } }], publishes: [{ type: Digest }], engine: { kind: expression, expression: '{"size": size(payload)}' } }`,
  gate: `{ consumes: [{ types: [Gate] }], publishes: [{ type: Opened }], timeout: 1h, engine: { kind: function, module: ./gate.js } }`,
  spreader: `{ consumes: [{ types: [Spread] }], publishes: [{ type: Gate }], engine: { kind: expression, expression: 'payload.list.map(n, {"n": n})' } }`,
  unlucky: `{ consumes: [{ types: [Doomed] }], publishes: [{ type: Done }], retry: { attempts: 2, delay: 5m }, engine: { kind: function, module: ./unlucky.js } }`,
};

const UNLUCKY = `export default async (inputs, { attempt }) => { if (attempt === 1) throw new Error('not yet'); return { attempt }; };`;

const configuration = (names: (keyof typeof AGENTS)[]): string =>
  `agents:\n${names.map((name) => `  ${name}: ${AGENTS[name]}`).join('\n')}\n`;

interface Gate {
  attempt: number;
  executionId: string;
  open(): void;
}

const gates = (): Gate[] => (globalThis as unknown as { restartGates?: Gate[] }).restartGates ?? [];

/** Real: the whole app over HTTP, stopped and started again on one SQLite file. Faked: the clock. */
describe('after a restart', () => {
  const folder = new ConfigurationFolder();
  const clock = new ManualClock();
  let board: Board;

  const start = (agents = Object.keys(AGENTS) as (keyof typeof AGENTS)[]): Promise<Board> =>
    Board.start(configuration(agents), { clock, folder: folder.path, files: { 'gate.js': GATE, 'unlucky.js': UNLUCKY }, settings: { shutdownGraceMs: 1_000 } });

  beforeEach(async () => {
    board = await start();
  });

  afterEach(() => board.close());
  afterAll(() => folder.remove());

  const restart = async (agents?: (keyof typeof AGENTS)[]): Promise<void> => {
    let hasStopped = false;
    let seconds = 0;
    const stopped = board.close().then(() => {
      hasStopped = true;
    });
    // The grace period is over when the clock says so, and begins when the app is about to stop; what is due in minutes is not due then.
    await eventually('the app has stopped', () => {
      if (!hasStopped && (seconds += 1) <= 60) clock.advance(1_000);
      return hasStopped;
    });
    await stopped;
    board = await start(agents);
  };

  it('releases what was hidden for a time, closes windows and expires joins when they are due', async () => {
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

  it('goes on with a join that was half filled', async () => {
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

  it('repeats, as the same attempt, what the shutdown grace did not suffice for', async () => {
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

  it('fails what waits for agents that the configuration no longer has, however much, some at a time', async () => {
    const executions = 300;
    const many = await board.publish('Spread', { list: Array.from({ length: executions }, (_, n) => n) });
    await eventually('all of them wait', async () => (await board.status(many)).artifact_count > executions);
    const retried = await board.publish('Doomed', {});
    await eventually('its first attempt has failed', () =>
      board.app.logLines.some((line) => line.outcome === 'retried' && line.correlation_id === retried),
    );
    await restart(['late', 'pairer', 'window', 'spreader']);
    expect(await board.ended(many)).toMatchObject({ error_count: executions });
    expect(await board.ended(retried)).toMatchObject({ state: 'failed', error_count: 1 });
    // One transaction for all of them would hold up every other write.
    const { text } = await board.http.get('/metrics').expect(200);
    const transactions = Number(/^starling_database_transaction_seconds_count (\d+)$/m.exec(text)?.[1]);
    expect(transactions).toBeGreaterThanOrEqual(executions / 100);
  });

  it('fails what waits for an agent that the configuration no longer has', async () => {
    const before = gates().length;
    const correlation = await board.publish('Gate', { n: 6 });
    await eventually('it runs', () => gates().length === before + 1);
    await restart(['late', 'pairer', 'window', 'unlucky']);
    expect(await board.ended(correlation)).toMatchObject({ state: 'failed', error_count: 1 });
    const [, error] = await board.artifacts(correlation);
    expect(error).toMatchObject({ type: 'WorkflowError', payload: { failed_agent: 'gate', error_type: 'agent_removed', attempts: 1 } });
  });
});
