import type { Logged } from './execution-log.js';
import { FileHistory } from './file-history.js';
import { type Rate, RateModel } from './rate-model.js';
import { valueOf } from './value-of.js';

export interface Values {
  concurrency: number | null;
  rate: Rate | null;
}

/** A limit of the configuration. A breaker is one without values: the log says when it lets something start. */
export interface Rule extends Values {
  name: string;
  hold: boolean;
  isKeyed: boolean;
  /** True if it is a rule of the agent itself, which is not in `executions.limit_keys`: a turn or a slot. */
  isOfAgent?: boolean;
  /** True for slots of a process, which are free as soon as it knows that a lease was lost: before the log does. */
  isOfProcess?: boolean;
  /** The expression for what an attempt costs of the rate, of which `LimitedWork.units` is the value. Without it, 1. */
  units?: string;
}

/** The limits of a configuration. */
export interface LimitFile {
  /** All limits, and the rules of agents that are like limits, by their names. */
  all: ReadonlyMap<string, Rule>;
  /** The agent → the names of those in which it takes part. */
  partsOf: Readonly<Record<string, readonly string[]>>;
}

/** An execution as limits see it. */
export interface LimitedWork {
  agent: string;
  key: string | number;
  /** An attempt costs so much of the rates of limits with `units`. */
  units?: number;
  /** When it was sent (epoch ms). It has the limits that a configuration since then says. */
  sentAt?: number;
  /** True if it also waits for something else, of which the model does not know. */
  waitsForOthers?: boolean;
}

type State = 'new' | 'ready' | 'delayed' | 'running' | 'ended';

interface Known {
  id: string;
  work: LimitedWork;
  /** As in `executions.limit_keys`. */
  keys: string | null;
  /** Each limit and, if it has keys, the key → the cost of an attempt. */
  groups: ReadonlyMap<string, number>;
  state: State;
  lease: string | null;
  /** When its last attempt started. */
  startedAt: number;
  /** Since when it might have started, and no other one of its limits with a rate has started instead. */
  idleSince: number | null;
}

/** How long something may not have started although it might have. */
export interface IdleTime {
  longestMs: number;
  /** How much of the time between two times of the log counts: that in which the machine was awake. */
  between: (from: number, to: number) => number;
}

/** A breaker that is open or half-open. */
interface Open {
  since: number;
  until: number;
}

/** A claim may have read that a breaker is closed just before it opened. */
const LONGEST_CLAIM_MS = 500;

/** Reads the log of a database from its beginning, and finds what limits and breakers should have refused or let start. */
export class LimitModel {
  readonly breaches: string[] = [];
  private readonly history: FileHistory<LimitFile>;
  /** The values that clients have set. */
  private readonly values = new Map<string, Values>();
  private readonly executions = new Map<string, Known>();
  /** The limit and, if it has keys, the key → the executions that run with it. */
  private readonly running = new Map<string, Set<string>>();
  /** The same → the executions that hold it until they end, if the configuration has `hold`. */
  private readonly holding = new Map<string, Set<string>>();
  /** The same → the rate → what has started by it. While processes have different rates, each goes by its own. */
  private readonly rates = new Map<string, Map<string, RateModel>>();
  /** The breaker and key → since when it is not closed. */
  private readonly open = new Map<string, Open>();
  /** The agents that are paused. */
  private readonly paused = new Set<string>();

  /** `files`: the configurations, as in FileHistory. */
  constructor(
    files: readonly LimitFile[],
    /** Correlation → the work of its one execution. Others take part in no limit, and have no breaker. */
    private readonly works: ReadonlyMap<string, LimitedWork>,
    private readonly idle: IdleTime,
  ) {
    this.history = new FileHistory(files);
  }

  read(entry: Logged): void {
    if (entry.process !== null) this.register(entry);
    else if (entry.limit_name !== null) this.change(entry.limit_name, entry);
    else if (entry.breaker_key !== null) this.turn(entry.breaker_key, entry);
    else if (entry.paused_agent !== null) this.pause(entry.paused_agent, entry);
    else if (this.works.has(entry.correlation_id!)) this.move(entry);
    this.look(entry.at);
  }

  /**
   * Starts from before no longer count for rates: the row of a rate may have been deleted when it was no longer used, and
   * the times since then come again.
   */
  clockSetBack(): void {
    this.rates.clear();
  }

  /** Executions that have not ended. */
  get left(): string[] {
    return [...this.executions.keys()];
  }

  /** Finds what has waited until this time of the log for no reason. */
  look(at: number): void {
    for (const execution of this.executions.values()) {
      if (!this.mayStart(execution, at)) execution.idleSince = null;
      else if (execution.idleSince === null) execution.idleSince = at;
      else if (this.idle.between(execution.idleSince, at) > this.idle.longestMs) {
        this.breaches.push(`${execution.id} might have started at ${execution.idleSince}, and had not at ${at}`);
        execution.idleSince = null;
      }
    }
  }

  /** Counts what has started at the rates of another configuration, and frees the shares of limits that have no `hold` in it. */
  private register(entry: Logged): void {
    const before = this.history.current;
    this.history.read(entry);
    const { current } = this.history;
    for (const [group, models] of this.rates) {
      const rates = current.flatMap((file) => this.valuesOf(nameOf(group), file)?.rate ?? []);
      const known = new Set(rates.map(textOf));
      if (before.length > 1) for (const text of models.keys()) if (!known.has(text)) models.delete(text);
      if (before.length === 1 && current.length === 1) this.changeRate(group, rates[0] ?? null, null);
    }
    for (const [group, holding] of this.holding)
      if (current.some(({ all }) => all.get(nameOf(group))?.hold === false)) holding.clear();
  }

  private change(name: string, { options, started_at: setAt }: Logged): void {
    if (options === null) this.values.delete(name);
    else this.values.set(name, parseValues(options));
    for (const group of this.rates.keys()) {
      if (nameOf(group) !== name) continue;
      const [rate, ...others] = this.history.current.map((file) => this.valuesOf(name, file)?.rate);
      if (rate && others.length === 0) this.changeRate(group, rate, setAt);
      else this.rates.delete(group);
    }
  }

  /** Without a rate, what has started is not forgotten yet. */
  private changeRate(group: string, rate: Rate | null, since: number | null): void {
    const [model] = this.rates.get(group)!.values();
    if (!model || rate === null) return;
    model.change(rate, since);
    this.rates.set(group, new Map([[textOf(rate), model]]));
  }

  /** Undefined if the configuration does not have the limit, which then limits nothing. */
  private valuesOf(name: string, { all }: LimitFile): Values | undefined {
    const rule = all.get(name);
    return rule && (this.values.get(name) ?? rule);
  }

  private turn(breaker: string, { at, open_until: until }: Logged): void {
    if (until === null) this.open.delete(breaker);
    else this.open.set(breaker, { since: at, until });
  }

  private pause(agent: string, { is_paused: isPaused }: Logged): void {
    if (isPaused) this.paused.add(agent);
    else this.paused.delete(agent);
  }

  private move(entry: Logged): void {
    const { state, lease_token: lease } = entry;
    const execution = this.known(entry);
    // Without a time of a start, it is leased only to be ended.
    const isStart =
      state === 'running' && entry.started_at !== null && (execution.state !== 'running' || execution.lease !== lease);
    execution.state =
      state === 'running' ? state : state !== 'pending' ? 'ended' : entry.retry_at === null ? 'ready' : 'delayed';
    execution.lease = lease;
    this.readKeys(execution, entry);
    if (isStart) for (const group of execution.groups.keys()) this.start(execution, group, entry);
    else if (state !== 'running')
      for (const group of execution.groups.keys()) {
        this.running.get(group)?.delete(execution.id);
        if (execution.state === 'ended') this.holding.get(group)?.delete(execution.id);
      }
    if (execution.state === 'ended') this.executions.delete(execution.id);
  }

  /** An execution gets its limits and keys by one configuration before it may start, and keeps them. */
  private readKeys(execution: Known, { limit_keys: keys }: Logged): void {
    const { id, work, state } = execution;
    if (state === 'ended' || (state === 'delayed' && keys === null)) return;
    if (execution.groups === NONE) {
      const files = this.history.since(work.sentAt ?? -Infinity);
      if (!files.some((file) => keysIn(file, work) === keys))
        this.breaches.push(`${id} of ${work.agent} has the limits ${keys}, which no configuration says`);
      const ofAgent = partsIn(this.history.current[0]!, work).filter(({ isOfAgent }) => isOfAgent);
      execution.keys = keys;
      execution.groups = new Map([
        ...(JSON.parse(keys ?? '[]') as LimitKey[]).map(([name, key, units]) => [groupOf(name, key), units] as const),
        ...ofAgent.map(({ name, isKeyed }) => [groupOf(name, isKeyed ? work.key : null), 1] as const),
      ]);
    } else if (execution.keys !== keys)
      this.breaches.push(`${id} has the limits ${keys}, and had ${execution.keys} before`);
  }

  private start(execution: Known, group: string, { at, started_at: claimedAt, lease_owner: process }: Logged): void {
    const { id, groups } = execution;
    execution.startedAt = claimedAt!;
    const name = nameOf(group);
    // A client may have claimed it from any process.
    const files = this.history.of(process);
    const obstacles = files.map((file) => this.obstacle(id, group, file));
    if (obstacles.every((obstacle) => obstacle !== null))
      this.breaches.push(`${id} starts at ${at} with ${group}, ${obstacles[0]}`);
    valueOf(this.running, group, () => new Set()).add(id);
    const holding = valueOf(this.holding, group, () => new Set());
    // If the limit comes back with `hold`, it is held by what has started without it.
    if (files.every(({ all }) => all.get(name)?.hold ?? true)) holding.add(id);
    else holding.delete(id);
    if (files.every(({ all }) => all.has(name))) this.startThrough(execution, group);
    const rates = files.map((file) => this.valuesOf(name, file)?.rate ?? null);
    if (new Set(rates.map((rate) => rate && textOf(rate))).size > 1) this.rates.delete(group);
    else if (rates[0]) {
      const models = valueOf(this.rates, group, () => new Map<string, RateModel>());
      const model = valueOf(models, textOf(rates[0]), () => new RateModel());
      const tooMany = model.start(groups.get(group)!, rates[0], claimedAt!);
      if (tooMany !== null)
        this.breaches.push(
          `${id} starts at ${claimedAt} with ${group}, which is ${tooMany} units too many for its rate`,
        );
    }
    // The model does not know whose turn it is when a rate has room.
    for (const other of this.executions.values())
      if (other === execution || (rates.some((rate) => rate) && other.groups.has(group))) other.idleSince = null;
  }

  /** Why the concurrency has no room. Null if it has some. */
  private obstacle(id: string, group: string, file: LimitFile): string | null {
    const concurrency = this.valuesOf(nameOf(group), file)?.concurrency ?? null;
    if (concurrency === null || file.all.get(nameOf(group))!.isOfProcess) return null;
    // While several configurations are in use, what one process holds may be free for another one.
    if (this.hasRoom(id, group, concurrency, 'some')) return null;
    return `of which ${this.using(group, 'every').size} of ${concurrency} are used`;
  }

  /**
   * An execution that holds a share needs no other one. It also starts only beside fewer than the limit allows. `by`: whether
   * there must be room by some of the configurations that are in use, or by every one.
   */
  private hasRoom(id: string, group: string, concurrency: number, by: Quantifier): boolean {
    const running = this.running.get(group) ?? NOBODY;
    const others = running.size - (running.has(id) ? 1 : 0);
    const mayNeedNone = (this.holding.get(group) ?? NOBODY).has(id) && this.holds(id, group, by);
    return others < concurrency && (mayNeedNone || this.using(group, OPPOSITE[by]).size < concurrency);
  }

  private using(group: string, by: Quantifier): ReadonlySet<string> {
    const holding = [...(this.holding.get(group) ?? NOBODY)].filter((id) => this.holds(id, group, by));
    return new Set([...(this.running.get(group) ?? NOBODY), ...holding]);
  }

  /** An execution holds all its limits with `hold`, or none. */
  private holds(id: string, group: string, by: Quantifier): boolean {
    const groups = [...(this.executions.get(id)?.groups.keys() ?? [])];
    return this.history.current[by](({ all }) => {
      const hasHold = (each: string): boolean => all.get(nameOf(each))?.hold ?? false;
      return hasHold(group) && groups.every((each) => !hasHold(each) || this.holding.get(each)?.has(id));
    });
  }

  /** Nothing starts while a breaker is open, and one attempt at a time until one that has started since has ended. */
  private startThrough({ id, startedAt }: Known, breaker: string): void {
    const open = this.open.get(breaker);
    if (!open) return;
    const { since, until } = open;
    const deciding = this.deciding(breaker, until).find((other) => other.id !== id);
    if (startedAt >= until && deciding)
      this.breaches.push(`${id} starts at ${startedAt} while ${deciding.id} decides about ${breaker}`);
    if (startedAt < until && this.idle.between(since, startedAt) > LONGEST_CLAIM_MS)
      this.breaches.push(`${id} starts at ${startedAt} although ${breaker} is open from ${since} to ${until}`);
  }

  private deciding(breaker: string, until: number): Known[] {
    return [...(this.running.get(breaker) ?? [])]
      .map((id) => this.executions.get(id)!)
      .filter(({ startedAt }) => startedAt >= until);
  }

  private isShut(breaker: string, at: number): boolean {
    const until = this.open.get(breaker)?.until;
    return until !== undefined && (at < until || this.deciding(breaker, until).length > 0);
  }

  /** Returns true if it may start by each configuration that is in use. */
  private mayStart({ id, work, state, groups }: Known, at: number): boolean {
    const { current } = this.history;
    return (
      state === 'ready' &&
      !work.waitsForOthers &&
      !this.paused.has(work.agent) &&
      [...groups.keys()].every((group) => {
        const name = nameOf(group);
        return current.every((file) => {
          const concurrency = this.valuesOf(name, file)?.concurrency ?? null;
          if (file.all.has(name) && this.isShut(group, at)) return false;
          return concurrency === null || this.hasRoom(id, group, concurrency, 'every');
        });
      })
    );
  }

  private known({ execution: id, correlation_id: correlation }: Logged): Known {
    return valueOf(this.executions, id!, () => {
      const work = this.works.get(correlation!)!;
      return { id: id!, work, keys: null, groups: NONE, state: 'new', lease: null, startedAt: 0, idleSince: null };
    });
  }
}

type LimitKey = [name: string, key: string | number | null, units: number];

type Quantifier = 'some' | 'every';

const OPPOSITE = { some: 'every', every: 'some' } as const;

const NONE: ReadonlyMap<string, number> = new Map();
const NOBODY: ReadonlySet<string> = new Set();

const partsIn = ({ all, partsOf }: LimitFile, { agent }: LimitedWork): Rule[] =>
  (partsOf[agent] ?? []).map((name) => all.get(name)!);

/** The limits and keys that an execution has by a configuration, in the form of `executions.limit_keys`. */
export function keysIn(file: LimitFile, work: LimitedWork): string | null {
  const keys = partsIn(file, work)
    .filter(({ isOfAgent }) => !isOfAgent)
    .map(({ name, isKeyed, units }): LimitKey => [
      name,
      isKeyed ? work.key : null,
      units === undefined ? 1 : (work.units ?? 1),
    ]);
  return keys.length === 0 ? null : JSON.stringify(keys);
}

const groupOf = (name: string, key: string | number | null): string => JSON.stringify([name, key]);

const textOf = ({ perSecond, burst }: Rate): string => `${burst} and ${perSecond}/s`;

const nameOf = (group: string): string => (JSON.parse(group) as [string])[0];

function parseValues(options: string): Values {
  const { concurrency, rate, burst } = JSON.parse(options) as { concurrency?: number; rate?: string; burst?: number };
  const perSecond = rate && Number.parseInt(rate, 10);
  return { concurrency: concurrency ?? null, rate: perSecond ? { perSecond, burst: burst ?? 1 } : null };
}
