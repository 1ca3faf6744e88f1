// Agents with `variants` and `rollback`. Uses the whole app over HTTP on a database.
import type { AgentBody } from '../../src/features/agents/dto/agents-body.js';
import type { HistoryBody } from '../../src/features/agents/dto/history-body.js';
import type { ListedExecutionBody } from '../../src/features/executions/dto/execution-body.js';
import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ended, orders, send } from './batch-board.js';
import { Board } from './board.js';

/** The agent's own options always work. A variant that names `payload.name` fails without it. */
const agent = (type: string, variants: string, more = ''): string =>
  `{ consumes: [{ types: [${type}] }], publishes: [{ type: Answer }], engine: { kind: expression, expression: "{'by': 'base'}" }, variants: ${variants}, retry: { attempts: 1 }${more} }`;

const ALWAYS = `{ named: { share: 100%, expression: "{'by': payload.name}" } }`;
const SECOND_FAILURE = ', rollback: { failures: 50%, of: 4 }';

const CONFIG = `
agents:
  half: ${agent('Half', `{ other: { share: 50%, expression: "{'by': 'other'}" } }`)}
  doomed: ${agent('Doomed', ALWAYS, SECOND_FAILURE)}
  lucky: ${agent('Lucky', ALWAYS, ', rollback: { failures: 25%, of: 4 }').replace('attempts: 1', 'attempts: 2, delay: 0s')}
  recovering: ${agent('Recovering', ALWAYS, SECOND_FAILURE)}
  replayed: ${agent('Replayed', ALWAYS, SECOND_FAILURE)}
  endless: ${agent('Endless', ALWAYS)}
  plain: { consumes: [{ types: [Plain] }], publishes: [{ type: Answer }], engine: { kind: expression, expression: "{'by': 'plain'}" } }
`;

/** Requests to a board, and what its agents answered. */
class Ramp {
  constructor(private readonly board: Board) {}

  /** Publishes, and returns the execution of the one agent that reacts. */
  async execution(type: string, payload: object, correlation?: string): Promise<ListedExecutionBody> {
    const id = await this.board.publish(type, payload, { correlation });
    await this.board.ended(id);
    return (await this.executions(id))[0]!;
  }

  /** The newest first. */
  async executions(correlation_id: string): Promise<ListedExecutionBody[]> {
    const query = { correlation_id, replay: true };
    const { body } = await this.board.http.get('/api/v1/executions').query(query).expect(200);
    return (body as { items: ListedExecutionBody[] }).items;
  }

  async variantsOf(name: string): Promise<AgentBody['variants']> {
    const { body } = await this.board.http.get('/api/v1/agents').expect(200);
    return (body as { agents: AgentBody[] }).agents.find((one) => one.name === name)!.variants;
  }

  async rolledBackAt(name: string): Promise<string | null> {
    return (await this.variantsOf(name))!.items[0]!.rolled_back_at;
  }

  async history(name: string): Promise<HistoryBody['summary']['by_variant']> {
    const { body } = await this.board.http.get(`/api/v1/agents/${name}/history-summary`).expect(200);
    return (body as HistoryBody).summary.by_variant;
  }

  async metrics(start: string): Promise<string[]> {
    return (await this.board.http.get('/metrics')).text.split('\n').filter((line) => line.startsWith(start));
  }

  /** Replays the correlation, and returns the executions of the replay. */
  async replay(correlation: string, body: object): Promise<ListedExecutionBody[]> {
    const path = `/api/v1/correlations/${correlation}/replay`;
    const { correlation_id } = (await this.board.http.post(path).send(body).expect(200)).body as ReplayBody;
    await this.board.ended(correlation_id);
    return this.executions(correlation_id);
  }
}

describe('variants', () => {
  const folder = new ConfigurationFolder();
  let board: Board;
  let ramp: Ramp;

  const start = async (): Promise<void> => {
    board = await Board.start(CONFIG, { folder: folder.path });
    ramp = new Ramp(board);
  };
  beforeAll(start);
  afterAll(async () => {
    await board?.close();
    await board?.app.database.drop();
    folder.remove();
  });

  const answersIn = async (correlation: string): Promise<unknown[]> =>
    (await board.artifacts(correlation)).filter(({ type }) => type === 'Answer').map(({ payload }) => payload.by);

  it('are those of the correlation, in all its executions and after a restart', async () => {
    // The hash gives some of them to each variant.
    const names = Array.from({ length: 8 }, (_, n) => `ramp-${n}`);
    for (const name of names) await ramp.execution('Half', {}, name);
    await board.close();
    await start();
    for (const name of names) await ramp.execution('Half', {}, name);
    const answers: unknown[] = [];
    for (const name of names) answers.push(await answersIn(name));
    expect(answers).toEqual(
      ['base', 'other', 'base', 'other', 'other', 'other', 'other', 'base'].map((by) => [by, by]),
    );
  });

  it('are named by executions, with another definition, and by the trace and explain', async () => {
    const [base, other] = [(await ramp.executions('ramp-0'))[0]!, (await ramp.executions('ramp-1'))[0]!];
    expect([base.variant, other.variant]).toEqual(['base', 'other']);
    expect(other.definition).not.toBe(base.definition);
    const { body } = await board.http.get(`/api/v1/definitions/${other.definition}`).expect(200);
    const { options } = body as { options: Record<string, unknown> };
    expect(options.engine).toEqual({ kind: 'expression', expression: "{'by': 'other'}" });
    expect(options).not.toHaveProperty('variants');

    const trace = await board.http.get('/api/v1/correlations/ramp-1/trace').expect(200);
    expect(trace.body).toMatchObject({ executions: [{ variant: 'other' }, { variant: 'other' }] });
    const [artifact] = await board.artifacts('ramp-1');
    const explained = await board.http.get(`/api/v1/artifacts/${artifact!.id}/explain`).expect(200);
    expect(JSON.stringify(explained.body)).toContain(', with the variant other');
  });

  it('are nowhere for agents without variants', async () => {
    expect(await ramp.execution('Plain', {})).not.toHaveProperty('variant');
    expect(await ramp.variantsOf('plain')).toBeUndefined();
    expect(await ramp.history('plain')).toBeUndefined();
    const [line] = await ramp.metrics('starling_execution_duration_seconds_count{agent="plain"');
    expect(line).not.toContain('variant');
  });

  it('are compared with the own options of the agent', async () => {
    expect(await ramp.variantsOf('half')).toEqual({
      items: [{ name: 'other', share: 0.5, rolled_back_at: null }],
      rollback: null,
    });
    const ms = expect.any(Number) as number;
    const times = { duration_ms: { p50: ms, p95: ms, p99: ms } };
    expect(await ramp.history('half')).toEqual([
      { name: 'base', executions: 6, failures: 0, ...times },
      { name: 'other', executions: 10, failures: 0, ...times },
    ]);
    const counted = await ramp.metrics('starling_execution_duration_seconds_count{agent="half"');
    // This process has run half of them.
    expect(counted.map((line) => [/variant="(\w+)"/.exec(line)?.[1], line.split(' ').at(-1)]).sort()).toEqual([
      ['base', '3'],
      ['other', '5'],
    ]);
    const labels = 'agent="half",origin="live"';
    const summed = await ramp.metrics(`starling_execution_duration_seconds_sum{${labels}`);
    expect(summed.sort()).toEqual(
      ['base', 'other'].map(
        (name) =>
          expect.stringMatching(
            new RegExp(`\\{${labels},variant="${name}",outcome="completed"\\} [\\d.e-]+$`),
          ) as string,
      ),
    );
    for (const line of summed) expect(Number(line.split(' ').at(-1))).toBeGreaterThan(0);
  });

  it('are those of each row of a batch', async () => {
    const { results } = await ended(board, await send(board, 'half', orders(24)));
    const seen = new Set<unknown>();
    for (const { run_id } of results) {
      const [execution, ...more] = await ramp.executions(run_id);
      expect(more).toEqual([]);
      expect(await answersIn(run_id)).toEqual([execution!.variant]);
      seen.add(execution!.variant);
    }
    expect(seen).toEqual(new Set(['base', 'other']));
  });

  it('are used until so many of the last attempts have failed, and then the own options of the agent', async () => {
    expect(await ramp.execution('Doomed', { name: 'x' })).toMatchObject({ state: 'completed', variant: 'named' });
    expect(await ramp.execution('Doomed', {})).toMatchObject({ state: 'failed', variant: 'named' });
    expect(await ramp.rolledBackAt('doomed')).toBeNull();
    expect(await ramp.metrics('starling_variant_rolled_back{agent="doomed"')).toEqual([
      'starling_variant_rolled_back{agent="doomed",variant="named"} 0',
    ]);
    expect(await ramp.execution('Doomed', {})).toMatchObject({ state: 'failed', variant: 'named' });

    expect(await ramp.execution('Doomed', {})).toMatchObject({ state: 'completed', variant: 'base' });
    expect(await ramp.variantsOf('doomed')).toEqual({
      items: [{ name: 'named', share: 1, rolled_back_at: expect.any(String) as string }],
      rollback: { failures: 2, of: 4 },
    });
    expect(await ramp.metrics('starling_variant_rolled_back{agent="doomed"')).toEqual([
      'starling_variant_rolled_back{agent="doomed",variant="named"} 1',
    ]);
    expect(await ramp.history('doomed')).toMatchObject([
      { name: 'base', executions: 1, failures: 0 },
      { name: 'named', executions: 3, failures: 2 },
    ]);
    const counted = await ramp.metrics('starling_execution_duration_seconds_count{agent="doomed"');
    expect(counted.sort()).toEqual([
      'starling_execution_duration_seconds_count{agent="doomed",origin="live",variant="base",outcome="completed"} 1',
      'starling_execution_duration_seconds_count{agent="doomed",origin="live",variant="named",outcome="completed"} 1',
      'starling_execution_duration_seconds_count{agent="doomed",origin="live",variant="named",outcome="failed"} 2',
    ]);
    await eventually('the rollback is logged', () =>
      board.app.logLines.some(
        ({ msg, agent, variant }) =>
          agent === 'doomed' && variant === 'named' && String(msg).startsWith('a variant is rolled back'),
      ),
    );
    // It does not count as a breaker.
    expect(await ramp.metrics('starling_open_breakers{')).toEqual([]);
  });

  it('are left by the next attempt of an execution whose failure decides', async () => {
    expect(await ramp.execution('Lucky', {})).toMatchObject({ state: 'completed', attempt: 2, variant: 'base' });
  });

  it('stay in use without a rollback, however many attempts fail', async () => {
    for (let n = 0; n < 5; n += 1)
      expect(await ramp.execution('Endless', {})).toMatchObject({ state: 'failed', variant: 'named' });
    expect(await board.app.database.rows("select * from breakers where agent = 'endless'")).toEqual([]);
  });

  it('have no row while none of the last attempts has failed', async () => {
    const rows = (): Promise<object[]> =>
      board.app.database.rows("select outcomes, variant from breakers where agent = 'recovering'");
    expect(await ramp.execution('Recovering', {})).toMatchObject({ state: 'failed' });
    expect(await rows()).toEqual([{ outcomes: '1', variant: 'named' }]);
    for (let n = 0; n < 4; n += 1) await ramp.execution('Recovering', { name: 'x' });
    expect(await rows()).toEqual([]);
  });

  it('of a replay are those of the original, also for a replay of a replay', async () => {
    const seen: unknown[] = [];
    for (const [name, mode] of [
      ['ramp-0', 'full'],
      ['ramp-1', 'full'],
      ['ramp-1', 'recorded'],
    ] as const) {
      const [first] = await ramp.replay(name, { mode });
      const [second] = await ramp.replay(first!.correlation_id, { mode: 'full' });
      seen.push([first!.replay, first!.variant, second!.replay, second!.variant]);
    }
    expect(seen).toEqual([
      ['run', 'base', 'run', 'base'],
      ['run', 'other', 'run', 'other'],
      ['recorded', 'other', 'run', 'other'],
    ]);
  });

  it('of a replay are not what it overrides', async () => {
    const overrides = { half: { expression: "{'by': 'override'}" } };
    const [execution] = await ramp.replay('ramp-1', { mode: 'full', overrides });
    expect(await answersIn(execution!.correlation_id)).toContain('override');
    expect(execution).not.toHaveProperty('variant');
  });

  it('of a replay do not count, but a rollback counts for replays too', async () => {
    const failed = await ramp.execution('Replayed', {});
    for (let n = 0; n < 3; n += 1)
      expect(await ramp.replay(failed.correlation_id, { mode: 'full' })).toMatchObject([
        { state: 'failed', variant: 'named' },
      ]);
    expect(await ramp.rolledBackAt('replayed')).toBeNull();
    expect(await ramp.execution('Replayed', {})).toMatchObject({ state: 'failed', variant: 'named' });
    expect(await ramp.rolledBackAt('replayed')).not.toBeNull();
    expect(await ramp.replay(failed.correlation_id, { mode: 'full' })).toMatchObject([
      { state: 'completed', variant: 'base' },
    ]);
    // The definition has not changed, so the record answers.
    expect(await ramp.replay(failed.correlation_id, { mode: 'recorded' })).toMatchObject([
      { state: 'failed', variant: 'named', replay: 'recorded' },
    ]);
  });
});

describe('a variant that was rolled back', () => {
  const folder = new ConfigurationFolder();
  let board: Board | undefined;
  afterAll(async () => {
    await board?.app.database.drop();
    folder.remove();
  });

  const config = (variants: string, own = ''): string =>
    `agents:\n  doomed: ${agent('Doomed', variants, `${own}${SECOND_FAILURE}`)}\n`;

  /** Starts the app with this file, publishes so often, and returns the variants and whether one is rolled back then. */
  const variantsUsed = async (text: string, count: number): Promise<unknown[]> => {
    board = await Board.start(text, { folder: folder.path });
    const ramp = new Ramp(board);
    try {
      const used: unknown[] = [];
      for (let n = 0; n < count; n += 1) used.push((await ramp.execution('Doomed', {})).variant);
      return [...used, (await ramp.rolledBackAt('doomed')) !== null];
    } finally {
      await board.close();
    }
  };

  it('stays so after a restart and other changes of the file, until its variants change', async () => {
    expect(await variantsUsed(config(ALWAYS), 2)).toEqual(['named', 'named', true]);
    expect(await variantsUsed(config(ALWAYS), 1)).toEqual(['base', true]);
    expect(await variantsUsed(config(ALWAYS, ', description: Other'), 1)).toEqual(['base', true]);
    const changed = ALWAYS.replace('payload.name', 'payload.other');
    expect(await variantsUsed(config(changed), 2)).toEqual(['named', 'named', true]);
    // The file has these variants again, and their failures were not forgotten.
    expect(await variantsUsed(config(ALWAYS), 1)).toEqual(['base', true]);
  });
});
