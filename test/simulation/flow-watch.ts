import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { breakerAgent } from '../../src/catalog/limits.js';
import type { Logged } from '../flow/execution-log.js';
import { LimitModel } from '../flow/limit-model.js';
import { LIMITED, LIMITS, WITH_BREAKER } from './flow-agents.js';
import type { Flows } from './flows.js';

const LONGEST_IDLE_MS = 2_000;

interface Running {
  token: string;
  startedAt: number;
  limits: string;
}

/** Checks limits, turns, breakers and pauses while the service lives. A crash begins another one, because commits may be lost. */
export class FlowWatch {
  private readonly model: LimitModel;
  private readonly entries: StatementSync;
  private readonly lastEntry: StatementSync;
  private readonly secondTurns: StatementSync;
  private readonly breakers: StatementSync;
  private readonly running: StatementSync;
  private readonly pauses: StatementSync;
  private readonly paused: StatementSync;
  private read = 0;
  private last = 0;
  /** The time in which what may start should start. */
  private time = 0;
  private beforePause: { pauses: ReadonlySet<string>; tokens: ReadonlySet<string> } | null = null;
  private before: { breakers: ReadonlyMap<string, number>; tokens: ReadonlySet<string> } | null = null;

  /** How many of the steps back of the clock come before what was read. */
  private stepsRead = 0;

  /** `stepsBack`: the positions of the log after which the clock was set back. */
  constructor(
    connection: DatabaseSync,
    flows: Flows,
    private readonly stepsBack: number[],
  ) {
    this.model = new LimitModel(
      [{ all: new Map(LIMITS.map((rule) => [rule.name, rule])), partsOf: LIMITED }],
      flows.limited,
      {
        longestMs: LONGEST_IDLE_MS,
        between: (from, to) => to - from,
      },
    );
    this.entries = connection.prepare('select * from execution_log where seq > ? order by seq');
    this.lastEntry = connection.prepare('select coalesce(max(seq), 0) as last from execution_log');
    const last = this.lastPosition();
    // A loss of power may have lost the last entries.
    for (const [index, position] of stepsBack.entries()) stepsBack[index] = Math.min(position, last);
    this.secondTurns = connection.prepare(
      `select agent, singleton_key as key, count(*) as count from executions
       where ended_at is null and singleton_waits = 0 and substr(singleton_key, 1, 1) = '"'
       group by agent, singleton_key having count(*) > 1`,
    );
    this.breakers = connection.prepare(
      'select breaker_key as key, open_until as until from breakers where open_until is not null',
    );
    this.running = connection.prepare(
      `select lease_token as token, attempt_started_at as startedAt, limit_keys as limits from executions
       where state = 'running' and agent in (${WITH_BREAKER.map((name) => `'${name}'`).join()})`,
    );
    this.pauses = connection.prepare(`select agent || ' since ' || paused_at as pause from agent_pauses`);
    this.paused = connection.prepare(
      `select lease_token as token, p.agent || ' since ' || paused_at as pause
       from agent_pauses p join executions e on e.agent = p.agent where state = 'running'`,
    );
  }

  /** Call it after each turn, with the time in which nothing was late. `isHindered`: nothing can start now. */
  passed(calm: number, isHindered: boolean): void {
    if (!isHindered) this.time += calm - this.last;
    this.last = calm;
    this.model.look(this.time);
  }

  clockSetBack(): void {
    // After a crash, nothing may have been read yet.
    this.stepsBack.push(this.lastPosition());
  }

  /** Call it after each commit. */
  breaches(): string[] {
    for (const entry of this.entries.all(this.read) as unknown as Logged[]) {
      for (; entry.seq > (this.stepsBack[this.stepsRead] ?? Infinity); this.stepsRead += 1) this.model.clockSetBack();
      // This class checks breakers itself, because they open by the clock of the service.
      this.model.read({ ...entry, at: this.time, limit_keys: withoutBreakers(entry.limit_keys) });
      this.read = entry.seq;
    }
    const turns = this.secondTurns.all() as { agent: string; key: string; count: number }[];
    return [
      ...this.model.breaches.splice(0),
      ...turns.map(({ agent, key, count }) => `${count} executions of ${agent} have the turn of ${key}`),
      ...this.throughBreakers(),
      ...this.inPauses(),
    ];
  }

  private lastPosition(): number {
    return (this.lastEntry.get() as { last: number }).last;
  }

  /** Finds what has started although its agent was paused. */
  private inPauses(): string[] {
    const pauses = this.pauses.all() as { pause: string }[];
    const running = this.paused.all() as { token: string; pause: string }[];
    const before = this.beforePause;
    this.beforePause = {
      pauses: new Set(pauses.map(({ pause }) => pause)),
      tokens: new Set(running.map(({ token }) => token)),
    };
    return running
      .filter(({ token, pause }) => before?.pauses.has(pause) && !before.tokens.has(token))
      .map(({ pause }) => `an execution has started in the pause of ${pause}`);
  }

  /** Finds what has started although the breaker of its key was open, or not alone while it is half-open. */
  private throughBreakers(): string[] {
    const running = this.running.all() as unknown as Running[];
    const rows = this.breakers.all() as { key: string; until: number }[];
    const { before } = this;
    const breakers = new Map(rows.map(({ key, until }) => [key, until]));
    this.before = { breakers, tokens: new Set(running.map(({ token }) => token)) };
    return rows.flatMap(({ key, until }) => {
      const own = running.filter(({ limits }) => keysOf(limits).includes(key));
      const since = own.filter(({ startedAt }) => startedAt >= until);
      const early =
        before?.breakers.get(key) === until
          ? own.filter(({ token, startedAt }) => startedAt < until && !before.tokens.has(token))
          : [];
      return [
        ...(since.length > 1 ? [`${since.length} executions decide about the breaker ${key}`] : []),
        ...early.map(() => `an execution has started although the breaker ${key} is open`),
      ];
    });
  }
}

function withoutBreakers(limits: string | null): string | null {
  const keys = (JSON.parse(limits ?? '[]') as [string][]).filter(([name]) => breakerAgent(name) === null);
  return keys.length === 0 ? null : JSON.stringify(keys);
}

const keysOf = (limits: string): string[] =>
  (JSON.parse(limits) as [string, string][]).map(([name, key]) => JSON.stringify([name, key]));
