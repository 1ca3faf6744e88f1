import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board, type PublishParts } from './board.js';
import { type Held, Outside } from './outside.js';

export const MINUTE = 60_000;
/** Longer than the delay of a retry, which varies. */
export const RETRY = 2 * MINUTE;
/** Parts of agents. */
export const GATED = 'publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 50h';
export const EXTERNAL = 'engine: { kind: external }';
export const TWICE = 'retry: { attempts: 2, delay: 1m, max_delay: 1m }';
export const ONCE = 'retry: { attempts: 1 }';

export interface Execution {
  id: string;
  variant?: string;
  state: string;
  attempt: number;
  started_at: string | null;
  cached_from?: string;
  cancelled_by?: string;
  skipped_for?: string;
}

/**
 * A board for pairs of rules, whose clock is faked. The names are those of correlations, and of the gates of their executions.
 * Its functions can be used alone.
 */
export class PairsBoard {
  readonly clock = new ManualClock();
  private running?: Board;

  readonly start = async (config: string, settings: object = {}, files: Record<string, string> = {}): Promise<void> => {
    this.running = await Board.start(config, {
      clock: this.clock,
      files: { 'gate.js': GATE, ...files },
      // The clock jumps by more than a usual lease.
      settings: { shutdownGraceMs: 0, leaseMs: 1_000 * 60 * MINUTE, ...settings },
    });
  };

  readonly close = async (): Promise<void> => this.running?.close();

  get board(): Board {
    return this.running!;
  }

  get outside(): Outside {
    return new Outside(this.board.http);
  }

  readonly publish = async (
    type: string,
    names: readonly string[],
    payload: object = {},
    parts: PublishParts = {},
  ): Promise<void> => {
    for (const name of names)
      await this.board.publish(type, { batch: name, n: 1, ...payload }, { correlation: name, ...parts });
  };

  /** Publishes an artifact that agents see a minute later. */
  readonly publishHidden = (type: string, name: string, payload: object): Promise<void> =>
    this.publish(type, [name], payload, { visibility: { kind: 'After', ttl: 'PT1M' } });

  /** Replays what has ended, and returns the correlation of the replay. */
  readonly replay = async (name: string, mode = 'full'): Promise<string> => {
    const path = `/api/v1/correlations/${name}/replay`;
    const { body } = await this.board.http.post(path).send({ mode }).expect(200);
    return (body as { correlation_id: string }).correlation_id;
  };

  readonly executions = async (correlation_id: string): Promise<Execution[]> => {
    const query = { correlation_id, replays: true };
    const { body } = await this.board.http.get('/api/v1/executions').query(query).expect(200);
    return (body as { items: Execution[] }).items;
  };

  readonly only = async (name: string): Promise<Execution> => {
    const found = await this.executions(name);
    expect([name, found.length]).toEqual([name, 1]);
    return found[0]!;
  };

  /** Waits until each of them has an execution, and all keys are computed. */
  readonly areQueued = async (...names: string[]): Promise<void> => {
    for (const name of names)
      await eventually(`${name} is queued`, async () => (await this.executions(name)).length === 1);
    await eventually('all keys are computed', async () => {
      return (await this.board.app.database.rows(`select id from timers where kind = 'limits'`)).length === 0;
    });
  };

  readonly ends = async (name: string, state = 'completed'): Promise<void> =>
    expect([name, (await this.board.ended(name)).state]).toEqual([name, state]);

  /** Lets the first attempt fail. */
  readonly fails = async (name: string): Promise<void> => {
    await started(name, 1);
    gatesOf(name)[0]!.fail();
  };

  /** Lets the first attempt fail, and waits until the execution waits for its next one. */
  readonly failsOnce = async (name: string): Promise<void> => {
    await this.fails(name);
    await eventually('it waits for its next attempt', async () => (await this.only(name)).attempt === 2);
  };

  readonly works = async (name: string, attempt = 1): Promise<void> => {
    await started(name, attempt);
    gatesOf(name).at(-1)!.open();
    await this.ends(name);
  };

  readonly waitsFor = async (name: string, what: RegExp): Promise<void> => {
    await eventually(`${name} waits for ${what}`, async () => {
      const { body } = await this.board.http.get(`/api/v1/correlations/${name}/waiting`).expect(200);
      return what.test((body as { items: { limit: string | null }[] }).items[0]?.limit ?? '');
    });
  };

  /** Waits until what waits of it has this kind, such as `concurrency`. */
  readonly waitsAs = async (name: string, kind: string): Promise<void> => {
    await eventually(`${name} waits as ${kind}`, async () => {
      const { body } = await this.board.http.get(`/api/v1/correlations/${name}/waiting`).expect(200);
      return (body as { items: { kind: string }[] }).items[0]?.kind === kind;
    });
  };

  readonly callOff = async (order: string): Promise<string> => {
    const correlation = await this.board.publish('Off', { order });
    await eventually('nothing waits to be cancelled', async () => {
      return (await this.board.app.database.rows('select id from cancel_requests')).length === 0;
    });
    return (await this.board.artifacts(correlation))[0]!.id;
  };

  readonly pause = async (agent: string): Promise<void> => {
    await this.board.http.post(`/api/v1/agents/${agent}/pause`).expect(200);
  };

  readonly resume = async (agent: string): Promise<void> => {
    await this.board.http.post(`/api/v1/agents/${agent}/resume`).expect(200);
  };

  /** Claims as many as can be claimed, at least one. */
  readonly claim = async (agent: string, max = 10): Promise<Held[]> => {
    let held: Held[] = [];
    await eventually(
      'some can be claimed',
      async () => (held = await this.outside.claim({ agents: [agent], max })).length > 0,
    );
    return held;
  };

  /** Claims this many, one after the other, and returns their names in this order. */
  readonly claimInOrder = async (agent: string, count: number): Promise<string[]> => {
    const names: string[] = [];
    for (let n = 0; n < count; n += 1) names.push(...namesOf(await this.claim(agent, 1)));
    return names;
  };

  readonly complete = async (held: readonly Held[]): Promise<void> => {
    for (const one of held) expect((await this.outside.send(one, 'complete', { outputs: [] })).status).toBe(200);
  };
}

export const namesOf = (held: readonly Held[]): string[] => held.map(({ correlation_id: name }) => name);
