import type { Reader } from '../../database/unit-of-work.js';
import { findReadyAmong } from './blocked-execution-rows.js';

/**
 * An agent that has not started by then what a limit has released is late. A shorter time would make agents late whose
 * processes are only busy.
 */
export const LATE_AFTER_MS = 100;

/** A process that is only busy makes its agents late for a moment, and few of their executions are passed then. */
const FIRST_PART = 16;
const GROWTH = 4;
const LARGEST_PART = 1_000;
const MOST_KEYS = 10_000;

export interface Late {
  agents: ReadonlySet<string>;
  /** So many of their executions may be passed together. */
  part: number;
}

interface Released {
  id: string;
  /** Epoch ms. */
  at: number;
}

interface OfKey {
  /** Agent → its execution that was released first. */
  released: Map<string, Released>;
  part: number;
}

/**
 * Remembers what keys of limits have released, to find agents that do not start it: they are paused, have no free slot, or no
 * process has them. Room that stands free for them would be idle although executions of other agents wait behind theirs.
 */
export class LateAgents {
  /** By the keys (`keyText`). */
  private readonly keys = new Map<string, OfKey>();

  /** `ofAgents`: agent → an execution. */
  remember(key: string, ofAgents: ReadonlyMap<string, string>, at: number): void {
    const known = this.keys.get(key) ?? { released: new Map<string, Released>(), part: FIRST_PART };
    // Another process may have released the last of a key, so that this one is never told to forget it.
    if (this.keys.size >= MOST_KEYS) this.keys.clear();
    this.keys.set(key, known);
    for (const [agent, id] of ofAgents) if (!known.released.has(agent)) known.released.set(agent, { id, at });
  }

  /** Nothing waits for these keys. */
  forget(keys: readonly string[]): void {
    for (const key of keys) this.keys.delete(key);
  }

  /** Finds the late agents of keys that have room. Returns them by the keys. */
  async find(db: Reader, keys: readonly string[], now: number): Promise<ReadonlyMap<string, Late>> {
    const due = keys.flatMap((key) =>
      [...(this.keys.get(key)?.released ?? [])].flatMap(([agent, { id, at }]) =>
        at <= now - LATE_AFTER_MS ? [{ key, agent, id }] : [],
      ),
    );
    if (due.length === 0) return new Map();
    const ids = due.map(({ id }) => id);
    const ready = new Set((await findReadyAmong(db, {}, ids)).map(({ id }) => id));
    const late = new Map<string, Late>();
    for (const [key, some] of Map.groupBy(due, (each) => each.key)) {
      const known = this.keys.get(key)!;
      for (const { agent, id } of some) if (!ready.has(id)) known.released.delete(agent);
      const agents = new Set(some.filter(({ id }) => ready.has(id)).map(({ agent }) => agent));
      if (agents.size > 0) late.set(key, { agents, part: known.part });
      known.part = agents.size > 0 ? Math.min(known.part * GROWTH, LARGEST_PART) : FIRST_PART;
    }
    return late;
  }
}
