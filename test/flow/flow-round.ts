import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { changeStored } from '../faults/change-stored.js';
import { jsonField, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import type { Random } from '../support/random.js';
import { wronglyCached } from './cache-model.js';
import { type Keyed, wronglyCancelled } from './cancel-model.js';
import { wronglySuperseded } from './debounce-model.js';
import { LOG_EXECUTIONS, type Logged, readLog } from './execution-log.js';
import { unfair } from './fair-model.js';
import { LimitModel } from './limit-model.js';
import { valueOptions } from './limit-options.js';
import { type Pause, startedInPauses } from './pause-model.js';
import { outOfOrder } from './priority-model.js';
import { type Agent, AGENTS, AT_MOST_MS, KEYS, LIMITED, RandomRules, valuesOf } from './random-rules.js';
import type { Sent } from './sent.js';

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
/** Each with its weight. */
const TENANTS: Record<string, number> = { t1: 1, t2: 1, t3: 2, t4: 0.5 };
const ALL_KEYS = Array.from({ length: KEYS }, (_, n) => n + 1);
const TICK_MS = 100;
/** Processes look by themselves every 1.5 s. */
const LONGEST_IDLE_MS = 2_000;
const LONGEST_OUTAGE_MS = 1_500;
const WORK_IN_OUTAGE = 6;
const WORK_IN_PAUSE = 4;
/** So that several wait for the first. */
const LEAST_URGENT_MS = 20;

/**
 * Runs for a while or until it is aborted, and sometimes fails at its first attempts, or until a time. Notes each time that
 * it is invoked in a file.
 */
const agentThatNotesIn = (file: string): string => `import { appendFileSync } from 'node:fs';
export default async ([{ type, payload }], { attempt, correlationId, signal }) => {
  appendFileSync(${JSON.stringify(file)}, correlationId + '\\n');
  await new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    if (payload.ms !== null) setTimeout(resolve, payload.ms);
  });
  if (attempt <= payload.failures || Date.now() < payload.down_until) throw new Error('again');
  return type === 'For_translator' ? { by: correlationId } : null;
};`;

interface Payload {
  key: number;
  /** How long it takes. Null if it only ends when it is called off. */
  ms: number | null;
  failures: number;
  tenant?: string;
  weight?: number;
  urgency?: number;
  /** Attempts fail until then (epoch ms). */
  down_until?: number;
}

interface Work {
  agent: Agent;
  payload: Payload;
  sent: Sent;
}

interface Execution {
  id: string;
  correlation: string;
  state: string;
  cancelled_by: string | null;
  superseded_by: string | null;
  cached_from: string | null;
  ended_at: number | string;
}

interface LimitUse {
  running: number;
  waiting: number;
}

/** One life of some processes and a database, with random limits and other rules of flow. */
export class FlowRound {
  private readonly rules: RandomRules;
  /** By the correlations. */
  private readonly works = new Map<string, Work>();
  private readonly recalls = new Map<string, Keyed>();
  /** Clients have cancelled these. */
  private readonly cancelled = new Set<string>();
  private readonly pauses: Pause[] = [];
  private paused: { agent: Agent; from: number } | null = null;
  /** These must take an earlier answer. */
  private readonly known = new Set<string>();
  /** The key → until when attempts for what is published now fail (epoch ms). */
  private readonly downUntil = new Map<number, number>();
  /** When work could start (epoch ms): the machine was awake, which may stand still for seconds, and nothing went wrong. */
  private readonly ticks: number[] = [];
  private isSuffering = false;
  private readonly folder = mkdtempSync(join(tmpdir(), 'starling-flow-'));
  private readonly invocations = join(this.folder, 'invocations');

  constructor(
    private readonly random: Random,
    private readonly processes: Processes,
  ) {
    this.rules = new RandomRules(random);
  }

  get config(): string {
    return this.rules.config;
  }

  /** Returns the broken promises. */
  async play(): Promise<string[]> {
    writeFileSync(this.invocations, '');
    await this.processes.start(this.config, { 'run.js': agentThatNotesIn(this.invocations) });
    const ticking = setInterval(() => {
      if (!this.isSuffering) this.ticks.push(Date.now());
    }, TICK_MS);
    try {
      await changeStored(this.processes.database.url, LOG_EXECUTIONS);
      for (let step = 0; step < STEPS; step += 1) {
        const sent = Array.from({ length: this.random.between(2, 8) }, (_, n) => `${step}-${n}`);
        const favourite = this.pick(AGENTS);
        await Promise.all(sent.map((correlation) => this.publish(correlation, this.agent(favourite))));
        await this.disturb(sent);
      }
      return await this.check();
    } finally {
      clearInterval(ticking);
      await this.processes.remove();
      rmSync(this.folder, { recursive: true });
    }
  }

  private pick<T>(items: readonly T[]): T {
    return items[this.random.between(0, items.length - 1)]!;
  }

  /** Many of one agent at a time, so that they wait for each other. */
  private agent(favourite: Agent): Agent {
    const chance = this.random.between(0, 7);
    return chance < 4 ? favourite : chance < 5 ? 'fair' : chance < 6 ? this.pick(LIMITED) : this.pick(AGENTS);
  }

  private async publish(correlation: string, agent: Agent, payload = this.payload(agent)): Promise<void> {
    const sent = await this.sending(`For_${agent}`, payload, correlation);
    this.works.set(correlation, { agent, payload, sent });
  }

  private payload(agent: Agent): Payload {
    const { random } = this;
    const key = random.between(1, KEYS);
    const ms = random.between(0, 40);
    const failures = Math.max(0, random.between(-4, 2));
    switch (agent) {
      case 'fair': {
        const tenant = this.pick(Object.keys(TENANTS));
        return { key, ms, failures: 0, tenant, weight: TENANTS[tenant]! };
      }
      case 'sender':
        return this.sendersPayload(key, ms);
      case 'carrier':
        return { key, ms: random.between(0, 1) === 0 ? ms : null, failures };
      case 'translator':
        return this.rules.cachesPayloads ? { key, ms: 10 * key, failures: 0 } : { key, ms, failures };
      case 'urgent':
        return { key, ms: ms + LEAST_URGENT_MS, failures: 0, urgency: random.between(-1, 2) };
      default:
        return { key, ms, failures };
    }
  }

  private async recall(key: number): Promise<void> {
    const correlation = `recall-${this.recalls.size}`;
    const sent = await this.sending('Recall', { key }, correlation);
    this.recalls.set(correlation, { key, sent });
  }

  private async sending(type: string, payload: object, correlation: string): Promise<Sent> {
    const from = Date.now();
    await this.send('post', '/api/v1/artifacts', {
      body: { type, payload },
      headers: { 'X-Correlation-ID': correlation },
    });
    return { from, until: Date.now() };
  }

  private async disturb(sent: readonly string[]): Promise<void> {
    const { random } = this;
    const rule = this.pick(this.rules.limits);
    const limit = `/api/v1/limits/${rule.name}`;
    const event = random.between(0, 19);
    if (event < 3) await this.send('put', limit, { body: valueOptions(valuesOf(random, rule.units)) });
    else if (event < 4) await this.send('delete', limit);
    else if (event < 7) await this.suffer();
    else if (event < 9) {
      this.cancelled.add(sent[0]!);
      // It may have ended.
      await this.send('post', `/api/v1/correlations/${sent[0]}/cancel`, { allowed: [200, 404, 409] });
    } else if (event < 12) await this.recall(random.between(1, KEYS));
    else if (event < 15) await this.breakDown(`${sent[0]}-down`);
    else if (event < 19) await this.pause(this.pick(AGENTS), `${sent[0]}-paused`);
  }

  /** Nothing of this agent starts until another one is paused. */
  private async pause(agent: Agent, name: string): Promise<void> {
    await this.resume();
    await this.send('post', `/api/v1/agents/${agent}/pause`);
    this.paused = { agent, from: Date.now() };
    for (let n = 0; n < WORK_IN_PAUSE; n += 1) await this.publish(`${name}-${n}`, agent);
  }

  private async resume(): Promise<void> {
    if (this.paused === null) return;
    this.pauses.push({ ...this.paused, until: Date.now() });
    await this.send('post', `/api/v1/agents/${this.paused.agent}/resume`);
    this.paused = null;
  }

  /** Attempts for a key fail for a time, in which several wait for its breaker. */
  private async breakDown(name: string): Promise<void> {
    const { random } = this;
    const key = random.between(1, KEYS);
    this.downUntil.set(key, Date.now() + random.between(0, LONGEST_OUTAGE_MS));
    const payloads = Array.from({ length: WORK_IN_OUTAGE }, () => this.sendersPayload(key, random.between(0, 40)));
    await Promise.all(payloads.map((payload, n) => this.publish(`${name}-${n}`, 'sender', payload)));
  }

  private sendersPayload(key: number, ms: number): Payload {
    return { key, ms, failures: 0, down_until: this.downUntil.get(key) ?? 0 };
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

  private async check(): Promise<string[]> {
    await this.resume();
    for (const key of ALL_KEYS) await this.recall(key);
    const breaches = await this.unended();
    await this.askAgain();
    breaches.push(...(await this.unended()));
    await eventually('nothing uses or waits for a limit', () => this.isUnused());
    const { rows } = this.processes.database;
    await eventually('every request to cancel has been done', async () => {
      return (await rows('select id from cancel_requests')).length === 0;
    });
    const log = await readLog(rows);
    return [...new Set([...breaches, ...this.broken(log), ...(await this.wronglyEnded(log))])];
  }

  private async unended(): Promise<string[]> {
    const breaches: string[] = [];
    for (const correlation of this.works.keys()) {
      const state = await this.ended(correlation);
      if (state !== 'completed' && !(state === 'cancelled' && this.cancelled.has(correlation)))
        breaches.push(`${correlation} is ${state}`);
    }
    return breaches;
  }

  /** Publishes what has been answered once more. */
  private async askAgain(): Promise<void> {
    const asked = [...this.works].filter(
      ([correlation, { agent }]) => agent === 'translator' && !this.cancelled.has(correlation),
    );
    for (const [key, [first]] of Map.groupBy(asked, ([, { payload }]) => payload.key)) {
      const correlation = `again-${key}`;
      this.known.add(correlation);
      await this.publish(correlation, 'translator', first![1].payload);
    }
  }

  private broken(log: readonly Logged[]): string[] {
    const { all, partsOf } = this.rules;
    const limited = this.worksFor((agent, { key }) =>
      // Some run one at a time.
      ({ agent, limits: partsOf[agent], key, units: key, waitsForOthers: agent === 'fair' || agent === 'urgent' }),
    );
    const model = new LimitModel(all, limited, { longestMs: LONGEST_IDLE_MS, between: this.between });
    for (const entry of log) model.read(entry);
    const executed = new Set(log.flatMap(({ correlation_id: id }) => id ?? []));
    const fair = this.worksFor((agent, { tenant, weight }) =>
      agent === 'fair' ? { key: tenant!, weight: weight! } : null,
    );
    const ranked = this.worksFor((agent, { urgency }, sent) =>
      agent === 'urgent' ? { priority: urgency!, sent } : null,
    );
    const inLine = (key: number) =>
      this.worksFor((agent, payload, sent) =>
        agent === 'single' && payload.key === key ? { priority: 0, sent } : null,
      );
    return [
      ...model.breaches,
      ...model.left.map((id) => `${id} has not ended`),
      ...[...this.works]
        // An artifact that leaves its window has no execution.
        .filter(([id, { agent }]) => !executed.has(id) && !(agent === 'last' && this.cancelled.has(id)))
        .map(([id]) => `${id} was lost`),
      ...startedInPauses(log, this.works, this.pauses),
      ...unfair(log, fair),
      ...outOfOrder(log, ranked),
      ...ALL_KEYS.flatMap((key) => outOfOrder(log, inLine(key))),
    ];
  }

  private async wronglyEnded(log: readonly Logged[]): Promise<string[]> {
    const { rows } = this.processes.database;
    const executions = (
      await rows<Execution>(
        'select id, correlation_id as correlation, state, cancelled_by, superseded_by, cached_from, ended_at from executions',
      )
    ).map((execution) => ({ ...execution, ...this.works.get(execution.correlation)! }));
    const artifacts = await rows<{ id: string; correlation: string }>(
      `select id, correlation_id as correlation from artifacts where type in ('Recall', 'For_last')`,
    );
    const translations = await rows<{ correlation: string; by: string }>(
      `select correlation_id as correlation, ${jsonField('payload', 'by')} as by from artifacts where type = 'Translation'`,
    );
    const correlationOf = new Map(artifacts.map(({ id, correlation }) => [id, correlation]));
    const answers = Map.groupBy(translations, ({ correlation }) => correlation);
    const invocations = Map.groupBy(readFileSync(this.invocations, 'utf8').split('\n'), (correlation) => correlation);
    const leases = Map.groupBy(
      log.filter(({ state }) => state === 'running'),
      ({ correlation_id: id }) => id!,
    );
    const cancellable = executions
      .filter(({ agent }) => agent === 'carrier')
      .map(({ correlation, state, cancelled_by: by, ended_at: endedAt }) => {
        return { correlation, state, cancelledBy: by && correlationOf.get(by)!, endedAt: Number(endedAt) };
      });
    const queuedAt = new Map(log.toReversed().map(({ correlation_id: id, at }) => [id, Number(at)]));
    const debounced = executions
      .filter(({ agent }) => agent === 'last')
      .map(({ correlation, state, superseded_by: by }) => {
        const supersededBy = by && correlationOf.get(by)!;
        return { correlation, state, supersededBy, queuedAt: queuedAt.get(correlation)! };
      });
    const cached = executions
      .filter(({ agent }) => agent === 'translator')
      .map(({ id, correlation, state, cached_from: cachedFrom }) => ({
        ...{ id, correlation, state, cachedFrom },
        answers: (answers.get(correlation) ?? []).map(({ by }) => by),
        starts: new Set(leases.get(correlation)?.map(({ lease_token: lease }) => lease)).size,
        invocations: invocations.get(correlation)?.length ?? 0,
      }));
    const keyed = this.worksFor((_, { key }, sent) => ({ key, sent }));
    return [
      ...wronglyCancelled(cancellable, keyed, this.recalls, this.between),
      ...wronglySuperseded(debounced, keyed, { longestMs: AT_MOST_MS + LONGEST_IDLE_MS, between: this.between }),
      ...wronglyCached(
        cached,
        this.worksFor((_, { key }) => key),
      ),
      ...cached
        .filter(({ correlation, cachedFrom }) => this.known.has(correlation) && cachedFrom === null)
        .map(({ correlation }) => `${correlation} was asked although an equal one had been answered`),
    ];
  }

  /** Correlation → what a rule sees of its work. Null if the rule is not of its agent. */
  private worksFor<T>(seen: (agent: Agent, payload: Payload, sent: Sent) => T | null): Map<string, T> {
    return new Map(
      [...this.works].flatMap(([correlation, { agent, payload, sent }]) => {
        const own = seen(agent, payload, sent);
        return own === null ? [] : [[correlation, own] as const];
      }),
    );
  }

  private readonly between = (from: number, to: number): number =>
    this.ticks.filter((tick) => tick >= from && tick < to).length * TICK_MS;

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
