import { changeStored } from '../faults/change-stored.js';
import type { TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import type { Random } from '../support/random.js';
import { LOG_EXECUTIONS, type Logged, readLog } from './execution-log.js';
import { type FairWork, unfair } from './fair-model.js';
import { type LimitedWork, LimitModel, type Rule, type Values } from './limit-model.js';
import { limitOptions, valueOptions } from './limit-options.js';

/** Processes on one database, one of which a client asks. */
export interface Processes {
  readonly database: TestDatabase;
  /** Starts them with this configuration, beside which these files are. */
  start(config: string, files: Record<string, string>): Promise<void>;
  /** Asks any of them. */
  send(method: Method, path: string, parts: RequestParts): Promise<Answer>;
  /** Makes something go wrong in one of them. Resolves when all can be asked again. */
  suffer(): Promise<void>;
  /** Stops them, and deletes the database. */
  remove(): Promise<void>;
}

export type Method = 'get' | 'post' | 'put' | 'delete';

export interface RequestParts {
  body?: object;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  body: unknown;
}

const STEPS = 16;
const AGENTS = ['a', 'b', 'c'];
const FAIR = 'fair';
/** Each with its weight. */
const TENANTS: Record<string, number> = { t1: 1, t2: 1, t3: 2, t4: 0.5 };
const KEYS = 3;
const TICK_MS = 100;
/** Longer than the two seconds after which a process looks by itself, because the database may stand still for a while. */
const LONGEST_IDLE_MS = 5_000;

/** Runs for a while, and sometimes fails at its first attempts. */
const AGENT = `export default async ([{ payload }], { attempt }) => {
  await new Promise((resolve) => setTimeout(resolve, payload.ms));
  if (attempt <= payload.failures) throw new Error('again');
  return null;
};`;

function valuesOf(random: Random): Values {
  const kind = random.between(0, 2);
  return {
    concurrency: kind === 1 ? null : random.between(1, 3),
    rate: kind === 0 ? null : { perSecond: random.between(50, 400), burst: random.between(1, 5) },
  };
}

function ruleOf(random: Random, name: string): Rule {
  const values = valuesOf(random);
  const hold = values.concurrency !== null && random.between(0, 2) === 0;
  return { name, ...values, hold, isKeyed: random.between(0, 1) === 1 };
}

const configOf = (rules: readonly Rule[], partsOf: ReadonlyMap<string, string[]>): string => `
limits:
${rules.map((rule) => `  ${rule.name}: ${JSON.stringify(limitOptions(rule))}`).join('\n')}
agents:
${AGENTS.map(
  (name) =>
    `  ${name}: { consumes: [{ types: [For_${name}] }], limits: [${partsOf.get(name)!.join()}], engine: { kind: function, module: ./run.js }, retry: { attempts: 3, delay: 20ms }, concurrency: 100 }`,
).join('\n')}
  ${FAIR}: { consumes: [{ types: [For_${FAIR}] }], fair_by: payload.tenant, weight: payload.weight, engine: { kind: function, module: ./run.js }, concurrency: 1 }
`;

interface LimitUse {
  running: number;
  waiting: number;
}

/** One life of some processes and a database, with random limits and fair keys. */
export class LimitRound {
  readonly rules: Rule[];
  readonly config: string;
  private readonly limited = new Map<string, LimitedWork>();
  private readonly fair = new Map<string, FairWork>();
  private readonly partsOf: ReadonlyMap<string, string[]>;
  /** When work could start (epoch ms): the machine was awake, which may stand still for seconds, and nothing went wrong. */
  private readonly ticks: number[] = [];
  private isSuffering = false;

  constructor(
    private readonly random: Random,
    private readonly processes: Processes,
  ) {
    this.rules = ['one', 'two', 'three'].map((name) => ruleOf(random, name));
    this.partsOf = new Map(
      AGENTS.map((name) => {
        const parts = this.rules.map(({ name }) => name).filter(() => random.between(0, 2) > 0);
        return [name, parts.length === 0 ? ['one'] : parts];
      }),
    );
    this.config = configOf(this.rules, this.partsOf);
  }

  private get sent(): string[] {
    return [...this.limited.keys(), ...this.fair.keys()];
  }

  /** Returns the broken promises. */
  async play(): Promise<string[]> {
    await this.processes.start(this.config, { 'run.js': AGENT });
    const ticking = setInterval(() => {
      if (!this.isSuffering) this.ticks.push(Date.now());
    }, TICK_MS);
    try {
      await changeStored(this.processes.database.url, LOG_EXECUTIONS);
      const cancelled = new Set<string>();
      for (let step = 0; step < STEPS; step += 1) {
        const sent = Array.from({ length: this.random.between(2, 8) }, (_, n) => `${step}-${n}`);
        await Promise.all(sent.map((correlation) => this.publish(correlation)));
        await this.disturb(sent, cancelled);
      }
      return await this.check(cancelled);
    } finally {
      clearInterval(ticking);
      await this.processes.remove();
    }
  }

  private publish(correlation: string): Promise<unknown> {
    const { random } = this;
    const isFair = random.between(0, 1) === 0;
    const agent = isFair ? FAIR : AGENTS[random.between(0, AGENTS.length - 1)]!;
    const names = Object.keys(TENANTS);
    const tenant = names[random.between(0, names.length - 1)]!;
    const weight = TENANTS[tenant]!;
    const key = random.between(1, KEYS);
    if (isFair) this.fair.set(correlation, { key: tenant, weight });
    else this.limited.set(correlation, { limits: this.partsOf.get(agent)!, key });
    const failures = isFair ? 0 : Math.max(0, random.between(-4, 2));
    const payload = { key, tenant, weight, ms: random.between(0, 40), failures };
    const headers = { 'X-Correlation-ID': correlation };
    return this.send('post', '/api/v1/artifacts', { body: { type: `For_${agent}`, payload }, headers });
  }

  private async disturb(sent: readonly string[], cancelled: Set<string>): Promise<void> {
    const { random } = this;
    const limit = `/api/v1/limits/${this.rules[random.between(0, this.rules.length - 1)]!.name}`;
    const event = random.between(0, 11);
    if (event < 3) await this.send('put', limit, { body: valueOptions(valuesOf(random)) });
    else if (event < 4) await this.send('delete', limit);
    else if (event < 7) await this.suffer();
    else if (event < 9) {
      cancelled.add(sent[0]!);
      // It may have ended.
      await this.send('post', `/api/v1/correlations/${sent[0]}/cancel`, { allowed: [200, 404, 409] });
    }
  }

  /** Returns the body of the answer. Throws if its status is not one of `allowed`. */
  private async send(
    method: Method,
    path: string,
    { allowed = [200], ...parts }: RequestParts & { allowed?: readonly number[] } = {},
  ): Promise<unknown> {
    const { status, body } = await this.processes.send(method, path, parts);
    if (!allowed.includes(status)) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** The time until all processes run again is not idle: on SQLite, none runs meanwhile, for as long as a start takes. */
  private async suffer(): Promise<void> {
    this.isSuffering = true;
    await this.processes.suffer();
    this.isSuffering = false;
  }

  private async check(cancelled: ReadonlySet<string>): Promise<string[]> {
    const breaches: string[] = [];
    for (const correlation of this.sent) {
      const state = await this.ended(correlation);
      if (state !== 'completed' && !(state === 'cancelled' && cancelled.has(correlation)))
        breaches.push(`${correlation} is ${state}`);
    }
    await eventually('nothing uses or waits for a limit', () => this.isUnused());
    const log = await readLog(this.processes.database.rows);
    return [...breaches, ...this.broken(log)];
  }

  private broken(log: readonly Logged[]): string[] {
    const between = (from: number, to: number): number =>
      this.ticks.filter((tick) => tick >= from && tick < to).length * TICK_MS;
    const model = new LimitModel(new Map(this.rules.map((rule) => [rule.name, rule])), this.limited, {
      longestMs: LONGEST_IDLE_MS,
      between,
    });
    for (const entry of log) model.read(entry);
    const executed = new Set(log.flatMap(({ correlation_id: id }) => id ?? []));
    return [
      ...model.breaches,
      ...model.left.map((id) => `${id} has not ended`),
      ...this.sent.filter((id) => !executed.has(id)).map((id) => `${id} was lost`),
      ...unfair(log, this.fair),
    ];
  }

  private async ended(correlation: string): Promise<string> {
    let state = 'active';
    await eventually(`${correlation} has ended`, async () => {
      const status = await this.send('get', `/api/v1/correlations/${correlation}/status`);
      ({ state } = status as { state: string });
      return state !== 'active';
    });
    return state;
  }

  private async isUnused(): Promise<boolean> {
    const limits = (await this.send('get', '/api/v1/limits')) as { items: LimitUse[] };
    return limits.items.every(({ running, waiting }) => running === 0 && waiting === 0);
  }
}
