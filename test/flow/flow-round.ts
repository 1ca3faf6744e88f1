import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { changeStored } from '../faults/change-stored.js';
import { jsonField, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Random } from '../support/random.js';
import type { Keyed } from './cancel-model.js';
import { ClaimingClients } from './claiming-clients.js';
import { LOG_EXECUTIONS, readLog } from './execution-log.js';
import type { Rule } from './limit-model.js';
import { valueOptions } from './limit-options.js';
import type { Pause } from './pause-model.js';
import { type Agent, AGENTS, KEYS, LIMITED, MIXED, RandomRules, SCHEDULE, valuesOf } from './random-rules.js';
import { type PlayedRound, RoundChecks } from './round-checks.js';
import type { Sent } from './sent.js';
import type { Payload, Work } from './work.js';

/** Processes on one database, one of which a client asks. */
export interface Processes {
  readonly database: TestDatabase;
  /** While one of them is away, others work. */
  readonly areSeveral: boolean;
  /** Starts them with this configuration, beside which these files are. */
  start(config: string, files: Record<string, string>): Promise<void>;
  /** Asks any of them. */
  send(method: Method, path: string, parts: RequestParts): Promise<Answer>;
  /** Makes something go wrong in one of them. Resolves when all can be asked again. */
  suffer(): Promise<void>;
  /** Starts one after the other again, with another configuration. */
  replace(config: string): Promise<void>;
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

interface AllowedRequest extends RequestParts {
  /** The statuses that the answer may have: 200 without it. */
  allowed?: readonly number[];
}

const STEPS = 16;
/** Each with its weight. */
const TENANTS: Record<string, number> = { t1: 1, t2: 1, t3: 2, t4: 0.5 };
const ALL_KEYS = Array.from({ length: KEYS }, (_, n) => n + 1);
const TICK_MS = 100;
const LONGEST_OUTAGE_MS = 1_500;
const WORK_IN_OUTAGE = 6;
const WORK_IN_PAUSE = 4;
const WORK_AT_CHANGE = 12;
/** So that several wait for the first. */
const LEAST_URGENT_MS = 20;
/** So that several of a key come while it runs. */
const LEAST_ALONE_MS = 150;
const ROWS = 6;

/**
 * Runs for a while or until it is aborted, and sometimes fails at its first attempts, or until a time. Notes each time that
 * it is invoked in a file. Answers artifacts of some types.
 */
const agentThatNotesIn = (
  file: string,
  answered: readonly string[],
): string => `import { appendFileSync } from 'node:fs';
export default async ([{ type, payload }], { attempt, correlationId, signal }) => {
  appendFileSync(${JSON.stringify(file)}, correlationId + '\\n');
  await new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    if (payload.ms !== null) setTimeout(resolve, payload.ms);
  });
  if (attempt <= payload.failures || Date.now() < payload.down_until) throw new Error('again');
  return ${JSON.stringify(answered)}.includes(type) ? { by: correlationId } : null;
};`;

/** Work that the service itself has published: a row of a batch, or a tick. */
interface Published {
  correlation: string;
  agent: Agent;
  key: string;
  tenant: string | null;
  at: number;
}

interface LimitUse {
  running: number;
  waiting: number;
}

/** One life of some processes and a database, with random limits and other rules of flow. */
export class FlowRound {
  /** The rules of the newest file. */
  private rules: RandomRules;
  private readonly files: RandomRules[];
  /** By the correlations. */
  private readonly works = new Map<string, Work>();
  private readonly recalls = new Map<string, Keyed>();
  /** Clients have cancelled these. */
  private readonly cancelled = new Set<string>();
  private readonly batches = new Map<string, Sent>();
  private readonly pauses: Pause[] = [];
  private paused: { agent: Agent; from: number } | null = null;
  /** For these, too many executions of the tenant were waiting. */
  private readonly refused = new Map<string, Work>();
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
    this.rules = RandomRules.first(random);
    this.files = [this.rules];
  }

  /** All configurations, one after the other. */
  get config(): string {
    return this.files.map(({ config }) => config).join('\n');
  }

  /** Returns the broken promises. */
  async play(): Promise<string[]> {
    writeFileSync(this.invocations, '');
    const answered = AGENTS.filter((agent) => this.rules.of[agent].hasCache).map((agent) => `For_${agent}`);
    await this.processes.start(this.rules.config, { 'run.js': agentThatNotesIn(this.invocations, answered) });
    const ticking = setInterval(() => {
      if (!this.isSuffering) this.ticks.push(Date.now());
    }, TICK_MS);
    const clients = new ClaimingClients('mover', new Random(this.random.between(1, 1_000_000)), (path, body) =>
      this.processes.send('post', path, { body }),
    );
    try {
      await changeStored(this.processes.database.url, LOG_EXECUTIONS);
      for (let step = 0; step < STEPS; step += 1) {
        const sent = Array.from({ length: this.random.between(2, 8) }, (_, n) => `${step}-${n}`);
        const favourite = this.pick(this.random.between(0, 3) === 0 ? MIXED : AGENTS);
        await Promise.all(sent.map((correlation) => this.publish(correlation, this.agent(favourite))));
        await this.disturb(sent);
      }
      return await this.check();
    } finally {
      await clients.end();
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
    const mayHaveDeadline = [...LIMITED, ...MIXED].some((name) => name === agent) && !this.known.has(correlation);
    const hasDeadline = mayHaveDeadline && this.random.between(0, 5) === 0;
    const deadline = hasDeadline ? { deadline: `${this.random.between(20, 1_500)}ms` } : {};
    if (agent === 'joiner') payload = { ...payload, n: correlation };
    const allowed = this.rules.of[agent].hasShare ? [200, 503] : [200];
    const { status, sent } = await this.sending(`For_${agent}`, payload, correlation, { more: deadline, allowed });
    if (status === 503) {
      this.refused.set(correlation, { agent, payload, sent });
      return;
    }
    if (agent === 'joiner') sent.until = (await this.sending('With_joiner', payload, correlation)).sent.until;
    this.works.set(correlation, { agent, payload, sent, hasDeadline });
  }

  private payload(agent: Agent): Payload {
    const { random } = this;
    const { isRanked, onConflict, runsOne } = this.rules.of[agent];
    const mayBeFair = agent === 'fair' || MIXED.some((name) => name === agent);
    const key = random.between(1, KEYS);
    const ms = random.between(0, 40);
    const failures = runsOne ? 0 : Math.max(0, random.between(-4, 2));
    if (agent === 'sender') return this.sendersPayload(key, ms);
    if (agent === 'translator' && this.rules.cachesPayloads) return { key, ms: 10 * key, failures: 0 };
    if (agent === 'carrier') return { key, ms: random.between(0, 1) === 0 ? ms : null, failures };
    const tenant = this.pick(Object.keys(TENANTS));
    return {
      key,
      ms:
        ms +
        (onConflict === 'skip' || onConflict === 'cancel_running' ? LEAST_ALONE_MS : 0) +
        (isRanked ? LEAST_URGENT_MS : 0),
      failures,
      ...(mayBeFair && { tenant, weight: TENANTS[tenant]! }),
      ...(isRanked && { urgency: random.between(-1, 2) }),
    };
  }

  private async recall(key: number): Promise<void> {
    const correlation = `recall-${this.recalls.size}`;
    const { sent } = await this.sending('Recall', { key }, correlation);
    this.recalls.set(correlation, { key, sent });
  }

  private async sending(
    type: string,
    payload: object,
    correlation: string,
    { more = {}, allowed = [200] }: { more?: object; allowed?: readonly number[] } = {},
  ): Promise<{ status: number; sent: Sent }> {
    const from = Date.now();
    const { status } = await this.request('post', '/api/v1/artifacts', {
      body: { type, payload, ...more },
      headers: { 'X-Correlation-ID': correlation },
      allowed,
    });
    return { status, sent: { from, until: Date.now() } };
  }

  private async disturb(sent: readonly string[]): Promise<void> {
    const { random } = this;
    const rule = this.pick(this.rules.limits);
    const limit = `/api/v1/limits/${encodeURIComponent(rule.name)}`;
    const event = random.between(0, 23);
    if (event < 3) await this.setValues(rule, `${sent[0]}-set`);
    else if (event < 4) await this.send('delete', limit);
    else if (event < 7) await this.suffer();
    else if (event < 9) {
      this.cancelled.add(sent[0]!);
      // It may have ended.
      await this.send('post', `/api/v1/correlations/${sent[0]}/cancel`, { allowed: [200, 404, 409] });
    } else if (event < 12) await this.recall(random.between(1, KEYS));
    else if (event < 15) await this.breakDown(`${sent[0]}-down`);
    else if (event < 19) await this.pause(this.pick(AGENTS), `${sent[0]}-paused`);
    else if (event < 21) await this.changeFile();
    else await this.batch(this.pick(AGENTS.filter((agent) => this.takesRows(agent))));
  }

  /** While several wait for the limit, so that its rate is used up when it changes. */
  private async setValues({ name, units }: Rule, works: string): Promise<void> {
    const agent = LIMITED.find((each) => this.rules.of[each].limits.includes(name));
    if (agent)
      await Promise.all(Array.from({ length: WORK_AT_CHANGE }, (_, n) => this.publish(`${works}-${n}`, agent)));
    const body = valueOptions(valuesOf(this.random, units));
    await this.send('put', `/api/v1/limits/${encodeURIComponent(name)}`, { body });
  }

  /** Rows have no windows. Their keys and turns are decided after they are queued, of which the models do not know. */
  private takesRows(agent: Agent): boolean {
    const { onConflict, hasCancelOn, hasDebounce } = this.rules.of[agent];
    const isMixed = MIXED.some((name) => name === agent);
    return LIMITED.some((name) => name === agent) || (isMixed && !onConflict && !hasCancelOn && !hasDebounce);
  }

  private async batch(agent: Agent): Promise<void> {
    const rows = Array.from({ length: ROWS }, (_, row) => ({ ...this.payload(agent), row }));
    const from = Date.now();
    const body = { agent_name: agent, batch_inputs: rows, max_workers: this.random.between(1, ROWS) };
    const { batch_id: id } = (await this.send('post', '/run/batch', { body })) as { batch_id: string };
    this.batches.set(id, { from, until: Date.now() });
  }

  /** Nothing of this agent starts until another one is paused. */
  private async pause(agent: Agent, name: string): Promise<void> {
    await this.resume();
    await this.send('post', `/api/v1/agents/${agent}/pause`);
    this.paused = { agent, from: Date.now() };
    const count = this.rules.of[agent].hasShare ? WORK_IN_PAUSE * Object.keys(TENANTS).length : WORK_IN_PAUSE;
    for (let n = 0; n < count; n += 1) await this.publish(`${name}-${n}`, agent);
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
  private async send(method: Method, path: string, parts: AllowedRequest = {}): Promise<unknown> {
    return (await this.request(method, path, parts)).body;
  }

  private async request(method: Method, path: string, parts: AllowedRequest): Promise<Answer> {
    const { allowed = [200], ...request } = parts;
    const answer = await this.processes.send(method, path, request);
    const { status, body } = answer;
    if (!allowed.includes(status)) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(body)}`);
    return answer;
  }

  private suffer(): Promise<void> {
    return this.whileSuffering(() => this.processes.suffer());
  }

  private async changeFile(): Promise<void> {
    const known = new Map<string, Rule>(this.files.flatMap(({ limits }) => limits.map((rule) => [rule.name, rule])));
    this.rules = this.rules.changed(this.random, [...known.values()]);
    this.files.push(this.rules);
    await this.whileSuffering(() => this.processes.replace(this.rules.config));
  }

  /** If there is only one process, the time until it runs again is not idle. */
  private async whileSuffering(disturb: () => Promise<void>): Promise<void> {
    this.isSuffering = !this.processes.areSeveral;
    await disturb();
    this.isSuffering = false;
  }

  private async check(): Promise<string[]> {
    await this.resume();
    await this.send('post', `/api/v1/schedules/${SCHEDULE}/pause`);
    const sent = new Map(this.works);
    await this.findPublished();
    for (const key of ALL_KEYS) await this.recall(key);
    const breaches = await this.unended();
    await this.askAgain(sent);
    breaches.push(...(await this.unended()));
    await eventually('nothing uses or waits for a limit', () => this.isUnused());
    const { rows } = this.processes.database;
    await eventually('every request to cancel has been done', async () => {
      return (await rows('select id from cancel_requests')).length === 0;
    });
    const checks = new RoundChecks({ ...this.played, rows });
    const found = [...new Set([...breaches, ...(await checks.breaches())])];
    return found.length === 0 ? found : [...found, `the log of the database: ${await this.keepLog()}`];
  }

  /** Writes the log of the database into a file, for what a replay does not show again. Returns its path. */
  private async keepLog(): Promise<string> {
    const file = join(tmpdir(), `starling-flow-log-${Date.now()}.json`);
    writeFileSync(file, JSON.stringify(await readLog(this.processes.database.rows)));
    return file;
  }

  /** Adds the rows of batches and the ticks to the works. */
  private async findPublished(): Promise<void> {
    for (const id of this.batches.keys())
      await eventually(`batch ${id} has ended`, async () => {
        const { status } = (await this.send('get', `/batch/${id}?results_limit=0`)) as { status: string };
        return status === 'completed';
      });
    const { rows } = this.processes.database;
    const payload = `${jsonField('a.payload', 'key')} as key, ${jsonField('a.payload', 'tenant')} as tenant`;
    const found = [
      ...(await rows<Published>(
        `select r.id as correlation, r.agent, ${payload}, r.created_at as at
         from runs r join execution_inputs i on i.execution_id = r.execution_id join artifacts a on a.seq = i.artifact_seq`,
      )),
      ...(await rows<Published>(
        `select t.correlation_id as correlation, 'c' as agent, ${payload}, t.decided_at as at
         from schedule_ticks t join artifacts a on a.id = t.artifact_id`,
      )),
    ];
    for (const { correlation, agent, key, tenant, at } of found)
      this.works.set(correlation, {
        agent,
        payload: { key: Number(key), ms: 0, failures: 0, ...(tenant !== null && { tenant }) },
        sent: { from: at, until: at },
      });
  }

  private get played(): Omit<PlayedRound, 'rows'> {
    const { files, works, refused, recalls, cancelled, known, pauses, invocations, between } = this;
    return { files, works, refused, recalls, cancelled, known, pauses, invocations, between };
  }

  private async unended(): Promise<string[]> {
    const breaches: string[] = [];
    for (const [correlation, { hasDeadline }] of this.works) {
      const state = await this.ended(correlation);
      const mayBeCancelled = this.cancelled.has(correlation) || hasDeadline;
      if (state !== 'completed' && !(state === 'cancelled' && mayBeCancelled))
        breaches.push(`${correlation} is ${state}`);
    }
    return breaches;
  }

  /** Publishes once more what has been answered, of these works. */
  private async askAgain(works: ReadonlyMap<string, Work>): Promise<void> {
    const completed = await this.processes.database.rows<{ correlation: string }>(
      "select correlation_id as correlation from executions where state = 'completed'",
    );
    const answered = new Map<string, Work>();
    for (const { correlation } of completed) {
      const work = works.get(correlation);
      if (work && this.rules.of[work.agent].hasCache) answered.set(`again-${work.agent}-${work.payload.key}`, work);
    }
    for (const [correlation, { agent, payload }] of answered) {
      this.known.add(correlation);
      await this.publish(correlation, agent, payload);
    }
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
