import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { deleteFromLine, type WaitingLine, type WaitingRow } from '../fairness/fair-key-rows.js';
import { countReleases } from '../fairness/fair-lines.js';
import type { LimitKey } from '../matching/limit-keys.js';
import {
  findFirstBlocked,
  findHoldingBlocked,
  moveBlocked,
  returnExecutions,
  unblockExecutions,
} from './blocked-execution-rows.js';
import { keyText, parseKeys } from './key-texts.js';
import type { Late } from './late-agents.js';
import { LimitHolders } from './limit-holders.js';
import { keepPlaces } from './limit-rows.js';
import type { LimitUsage, NoRoom } from './limit-usage.js';
import { SharedLimits } from './shared-limits.js';
import { isTurn } from './singleton-turns.js';
import { nextInTurns } from './turns-in-lines.js';

/** Executions of one key that are read together. */
const READ_OF_KEY = 200;
/** Executions of all keys. More of them could have more keys than a statement can take. */
const MOST_READ = 1_000;
/** After a limit was raised, a million may go. They go in parts, so that others can use the database between them. */
const NEXT_PART_MS = 50;

/** The result of a transaction that lets executions go. */
export class Released {
  /** Agents that have executions in their queues again. */
  readonly agents = new Set<string>();
  /** Keys (`keyText`) that may have room for others, or for which executions wait since. */
  readonly again = new Set<string>();
  /** Keys of which some have gone back into the queue. */
  readonly parts = new Set<string>();
  /** Key → when it has room, or when more of it may go (epoch ms). */
  readonly times = new Map<string, number>();
  /** Lines of agents with `fair_by`, and keys of which none may wait in them any more. */
  readonly left = new Map<WaitingLine, string[]>();
  /** Key (`keyText`) → agent → one of its executions that the key has let go. */
  readonly gone = new Map<string, Map<string, string>>();

  later(key: string, time: number): void {
    this.times.set(key, Math.min(time, this.times.get(key) ?? Infinity));
  }
}

interface Waiting {
  key: LimitKey;
  rows: WaitingRow[];
  /** Others may wait behind these. */
  areMore: boolean;
}

/** Lets executions go that wait for a limit, and that no other limit keeps from starting. */
@Injectable()
export class BlockedExecutions {
  constructor(
    private readonly limits: SharedLimits,
    private readonly holders: LimitHolders,
  ) {}

  /**
   * Puts executions that wait for these limits back into the queue of their agent: only as many as may start. The claim
   * decides again, so that one too many is harmless. Those that another limit keeps from starting wait for that one from
   * now on, many in one statement: a claim would move one after the other. Those of `late` agents return without taking room,
   * so that the room is for those behind them.
   */
  async release(tx: Transaction, keys: readonly LimitKey[], late: ReadonlyMap<string, Late>): Promise<Released> {
    const released = new Released();
    const usage = await this.limits.hold(tx, keys);
    // Mostly, those for which there is room may start, and no others have to be read.
    const left = await this.look(tx, usage, keys, late, (readable) => Math.min(readable, READ_OF_KEY), released);
    const still = await this.look(tx, usage, left, late, () => READ_OF_KEY, released);
    for (const key of still)
      if (released.parts.has(keyText(key))) released.later(keyText(key), usage.now + NEXT_PART_MS);
      else released.again.add(keyText(key));
    await keepPlaces(tx, [...usage.places.added.values()]);
    // At the end, because others may wait for the locks of these rows.
    for (const [line, keys] of released.left) await deleteFromLine(tx, line, keys);
    return released;
  }

  /** Returns the keys that still have room, and for which others may wait. */
  private async look(
    tx: Transaction,
    usage: LimitUsage,
    keys: readonly LimitKey[],
    late: ReadonlyMap<string, Late>,
    most: (readable: number) => number,
    released: Released,
  ): Promise<LimitKey[]> {
    const found: Waiting[] = [];
    let read = 0;
    for (const key of keys) {
      if (read >= MOST_READ) {
        released.again.add(keyText(key));
        continue;
      }
      const part = late.get(keyText(key))?.part;
      const readable = usage.readable(key);
      const limit = part === undefined ? most(readable) : Math.min(readable, READ_OF_KEY) + part;
      const waiting = await this.find(tx, key, limit, released);
      read += waiting.rows.length;
      found.push(waiting);
    }
    const others = found.flatMap(({ key, rows }) => rows.flatMap((row) => keysOf(row, key).others));
    // Without their locks, because all locks are taken in one order. What changes before the commit is seen after it.
    const usageOfOthers = await this.limits.usage(tx.db, others, usage.now);
    const stopped = new Map<string, NoRoom>();
    const chosen: { key: LimitKey; startable: WaitingRow[] }[] = [];
    const returning: string[] = [];
    const left: LimitKey[] = [];
    for (const waiting of found) {
      const lateAgents = late.get(keyText(waiting.key))?.agents;
      const { startable, passed, obstacle } = this.choose(waiting, usage, usageOfOthers, stopped, lateAgents);
      returning.push(...passed);
      chosen.push({ key: waiting.key, startable });
      if (startable.length + passed.length > 0) released.parts.add(keyText(waiting.key));
      if (obstacle?.at != null) released.later(keyText(waiting.key), obstacle.at);
      if (obstacle === null && waiting.areMore) left.push(waiting.key);
    }
    const ids = chosen.flatMap(({ startable }) => startable.map(({ id }) => id));
    const unblocked = new Map((await unblockExecutions(tx.db, {}, ids)).map(({ id, agent }) => [id, agent]));
    for (const agent of unblocked.values()) released.agents.add(agent);
    for (const { agent } of await returnExecutions(tx.db, {}, returning)) released.agents.add(agent);
    for (const { key, startable } of chosen) {
      const gone = startable.filter(({ id }) => unblocked.has(id));
      const ofAgents = released.gone.get(keyText(key)) ?? new Map<string, string>();
      released.gone.set(keyText(key), new Map([...ofAgents, ...gone.map(({ id, agent }) => [agent, id] as const)]));
      if (!isTurn(key)) await countReleases(tx, keyText(key), gone);
    }
    await this.move(tx, stopped, released);
    return left;
  }

  private async find(tx: Transaction, key: LimitKey, limit: number, { left }: Released): Promise<Waiting> {
    const blockedOn = keyText(key);
    const holding = await this.findHolding(tx, key);
    const first = limit === 0 ? [] : await findFirstBlocked(tx.db, { blockedOn, limit });
    const next = await nextInTurns(tx.db, key, first, left);
    const rows = [...holding, ...next.filter(({ id }) => !holding.some((each) => each.id === id))];
    return { key, rows, areMore: limit > 0 && first.length === limit };
  }

  /**
   * Finds executions that hold the limit already. They wait for its rate, which it may no longer have, and need no room of its
   * concurrency.
   */
  private async findHolding(tx: Transaction, key: LimitKey): Promise<WaitingRow[]> {
    if (this.holders.held([key]).length === 0) return [];
    const blockedOn = keyText(key);
    const rows = await findHoldingBlocked(tx.db, { blockedOn });
    return rows.filter((row) => this.holders.heldTexts(row).has(blockedOn));
  }

  /**
   * Returns those that may start, the ids of those of late agents before them, and why no others may start. Adds to
   * `stopped` those that another limit keeps from starting. If executions that come after one of them have got ahead of it
   * there, this limit keeps a place for it: else both limits would have to get room at the same moment.
   */
  private choose(
    { key, rows, areMore }: Waiting,
    usage: LimitUsage,
    usageOfOthers: LimitUsage,
    stopped: Map<string, NoRoom>,
    late?: ReadonlySet<string>,
  ): { startable: WaitingRow[]; passed: string[]; obstacle: NoRoom | null } {
    const startable: WaitingRow[] = [];
    const passed: string[] = [];
    for (const row of rows) {
      const { own, others } = keysOf(row, key);
      const held = this.holders.heldTexts(row);
      const full = own ? usage.obstacle(own, held, row.id) : null;
      if (full) return { startable, passed, obstacle: full };
      if (late?.has(row.agent)) {
        passed.push(row.id);
        continue;
      }
      const obstacle = usageOfOthers.take(others, held, row.id);
      if (obstacle) {
        stopped.set(row.id, obstacle);
        const isOvertaken = obstacle.at === null && usageOfOthers.overtaken.by(obstacle.blockedOn, row);
        if (own && isOvertaken && !held.has(keyText(own))) usage.keepPlace(own, row.id);
        continue;
      }
      if (own) usage.take([own], held, row.id);
      startable.push(row);
    }
    // The next one may cost less than a unit. If there is none, some may begin to wait before the commit.
    const [name, value] = key;
    return { startable, passed, obstacle: usage.obstacle(areMore ? [name, value, 0] : key) };
  }

  private async move(tx: Transaction, stopped: ReadonlyMap<string, NoRoom>, released: Released): Promise<void> {
    for (const [blockedOn, some] of Map.groupBy(stopped, ([, obstacle]) => obstacle.blockedOn)) {
      await moveBlocked(
        tx.db,
        { blockedOn },
        some.map(([id]) => id),
      );
      const times = some.flatMap(([, { at }]) => at ?? []);
      if (times.length > 0) released.later(blockedOn, Math.min(...times));
      // It has room if an execution has ended before the commit: the look at its end has not seen those that wait.
      else released.again.add(blockedOn);
    }
  }
}

/** The key for which the execution waits, and its other ones. One that waits for its turn gets it first. */
function keysOf(row: WaitingRow, key: LimitKey): { own: LimitKey | undefined; others: LimitKey[] } {
  if (isTurn(key)) return { own: key, others: [] };
  const keys = parseKeys(row.limit_keys!);
  const text = keyText(key);
  return { own: keys.find((each) => keyText(each) === text), others: keys.filter((each) => keyText(each) !== text) };
}
