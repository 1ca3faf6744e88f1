import type { Logged } from './execution-log.js';
import { valueOf } from './value-of.js';

export interface Values {
  concurrency: number | null;
  rate: { perSecond: number; burst: number } | null;
}

/** A limit of the configuration. A breaker is one without values: the log says when it lets something start. */
export interface Rule extends Values {
  name: string;
  hold: boolean;
  isKeyed: boolean;
  /** True for slots of a process, which are free as soon as it knows that a lease was lost: before the log does. */
  isOfProcess?: boolean;
  /** The expression for what an attempt costs of the rate, of which `LimitedWork.units` is the value. Without it, 1. */
  units?: string;
}

/** An execution as limits see it. */
export interface LimitedWork {
  /** Its agent, if it may be paused. */
  agent?: string;
  /** The names of the limits in which its agent takes part. */
  limits: readonly string[];
  key: string | number;
  /** An attempt costs so much of the rates of limits with `units`. */
  units?: number;
  /** True if it also waits for something else, of which the model does not know. */
  waitsForOthers?: boolean;
}

type State = 'new' | 'ready' | 'delayed' | 'running' | 'ended';

interface Known {
  id: string;
  work: LimitedWork;
  groups: string[];
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
  private readonly values: Map<string, Values>;
  private readonly executions = new Map<string, Known>();
  /** The limit and, if it has keys, the key → the executions that use it. */
  private readonly used = new Map<string, Set<string>>();
  /** The starts of each group since the values of its limit have changed. */
  private readonly starts = new Map<string, { at: number; units: number }[]>();
  /** The breaker and key → since when it is not closed. */
  private readonly open = new Map<string, Open>();
  /** The agents that are paused. */
  private readonly paused = new Set<string>();

  constructor(
    private readonly rules: ReadonlyMap<string, Rule>,
    /** Correlation → the work of its one execution. Others take part in no limit, and have no breaker. */
    private readonly works: ReadonlyMap<string, LimitedWork>,
    private readonly idle: IdleTime,
  ) {
    this.values = new Map(rules);
  }

  read(entry: Logged): void {
    if (entry.limit_name !== null) this.change(entry.limit_name, entry.options);
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
    this.starts.clear();
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

  private change(name: string, options: string | null): void {
    this.values.set(name, options === null ? this.rules.get(name)! : parseValues(options));
    for (const group of this.starts.keys()) if (nameOf(group) === name) this.starts.delete(group);
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
    if (isStart) for (const group of execution.groups) this.start(execution, group, entry);
    else if (state !== 'running')
      for (const group of execution.groups)
        if (execution.state === 'ended' || !this.rules.get(nameOf(group))!.hold)
          this.used.get(group)?.delete(execution.id);
    if (execution.state === 'ended') this.executions.delete(execution.id);
  }

  private start(execution: Known, group: string, { at, started_at: claimedAt }: Logged): void {
    const { id, work } = execution;
    execution.startedAt = claimedAt!;
    const name = nameOf(group);
    const { concurrency, rate } = this.values.get(name)!;
    const using = valueOf(this.used, group, () => new Set());
    if (concurrency !== null && !using.has(id) && using.size >= concurrency && !this.rules.get(name)!.isOfProcess)
      this.breaches.push(`${id} starts at ${at} with ${group}, of which ${using.size} of ${concurrency} are used`);
    using.add(id);
    this.startThrough(execution, group);
    const starts = valueOf(this.starts, group, () => []);
    const units = this.rules.get(name)!.units === undefined ? 1 : (work.units ?? 1);
    // An attempt that costs more than the burst starts with all of it.
    starts.push({ at: claimedAt!, units: rate ? Math.min(units, rate.burst) : units });
    if (rate) {
      let sum = 0;
      for (const { at: first, units } of starts.toReversed()) {
        sum += units;
        // The times are rounded down.
        const most = rate.burst + ((claimedAt! - first + 1) * rate.perSecond) / 1_000;
        if (sum > most) this.breaches.push(`${sum} units start with ${group} in ${claimedAt! - first} ms, not ${most}`);
      }
    }
    // The model does not know whose turn it is when a rate has room.
    for (const other of this.executions.values())
      if (other.work === work || (rate && other.groups.includes(group))) other.idleSince = null;
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
    return [...(this.used.get(breaker) ?? [])]
      .map((id) => this.executions.get(id)!)
      .filter(({ startedAt }) => startedAt >= until);
  }

  private isShut(breaker: string, at: number): boolean {
    const until = this.open.get(breaker)?.until;
    return until !== undefined && (at < until || this.deciding(breaker, until).length > 0);
  }

  private mayStart({ id, work, state, groups }: Known, at: number): boolean {
    return (
      state === 'ready' &&
      !work.waitsForOthers &&
      !(work.agent !== undefined && this.paused.has(work.agent)) &&
      groups.every((group) => {
        const { concurrency } = this.values.get(nameOf(group))!;
        const using = this.used.get(group);
        if (this.isShut(group, at)) return false;
        return concurrency === null || using === undefined || using.has(id) || using.size < concurrency;
      })
    );
  }

  private known({ execution: id, correlation_id: correlation }: Logged): Known {
    return valueOf(this.executions, id!, () => {
      const work = this.works.get(correlation!)!;
      const groups = work.limits.map((name) => JSON.stringify([name, this.rules.get(name)!.isKeyed ? work.key : null]));
      return { id: id!, work, groups, state: 'new', lease: null, startedAt: 0, idleSince: null };
    });
  }
}

const nameOf = (group: string): string => (JSON.parse(group) as [string])[0];

function parseValues(options: string): Values {
  const { concurrency, rate, burst } = JSON.parse(options) as { concurrency?: number; rate?: string; burst?: number };
  const perSecond = rate && Number.parseInt(rate, 10);
  return { concurrency: concurrency ?? null, rate: perSecond ? { perSecond, burst: burst ?? 1 } : null };
}
