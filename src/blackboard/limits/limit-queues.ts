import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { type Reader, UnitOfWork } from '../../database/unit-of-work.js';
import type { LimitKey } from '../matching/limit-keys.js';
import { findQueuedAt, type QueuedRow } from './blocked-execution-rows.js';
import { findBlockedIn, findBlockedOfKeys, keysOf } from './blocked-key-rows.js';
import { parseKey } from './key-texts.js';
import { SharedLimits } from './shared-limits.js';

/** The executions that wait for a limit, or for one of its keys. */
export interface LimitQueue {
  /** Executions that wait; the largest numbers are not exact. */
  waiting: number;
  /** The one that was queued first, of those that are counted. Null if none waits. */
  longest: QueuedRow | null;
}

/** A key for which executions wait. */
export interface KeyState extends LimitQueue {
  key: LimitKey[1];
  /** The position of the key in the list. */
  text: string;
  /** Executions that use it: those that run, and with `hold` those that wait after their first start. */
  running: number;
  /** Used units of the burst. Null for a limit without a rate. */
  unitsUsed: number | null;
  /** When its rate has room for one unit (epoch ms). Null if the rate has room now, or if there is none. */
  roomAt: number | null;
}

/** Shows which executions wait for limits. */
@Injectable()
export class LimitQueues {
  constructor(
    private readonly limits: SharedLimits,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Name of the limit → what waits for it. */
  async of(names: readonly string[]): Promise<ReadonlyMap<string, LimitQueue>> {
    const { reader } = this.unitOfWork;
    const blocked = await Promise.all(names.map((name) => findBlockedIn(reader, keysOf(name))));
    const rows = await this.queued(reader, blocked);
    return new Map(
      names.map((name, index) => {
        const { count, first } = blocked[index]!;
        return [name, { waiting: count, longest: rowIn(rows, first) }];
      }),
    );
  }

  /** The keys of a limit for which executions wait, in the order of their texts, after this text. */
  async keys(name: string, after: string | null, limit: number): Promise<KeyState[]> {
    const { reader } = this.unitOfWork;
    const range = keysOf(name);
    const blocked = await findBlockedOfKeys(reader, { ...range, after: after ?? range.after }, limit);
    const keys = blocked.map(({ blocked_on }) => parseKey(blocked_on));
    const [usage, rows] = await Promise.all([
      this.limits.usage(reader, keys, this.clock.now()),
      this.queued(reader, blocked),
    ]);
    return blocked.map(({ blocked_on, count, first }, index) => ({
      key: keys[index]![1],
      text: blocked_on,
      running: usage.inUse(blocked_on),
      unitsUsed: usage.unitsUsed(keys[index]!),
      roomAt: usage.roomAt(keys[index]!),
      waiting: count,
      longest: rowIn(rows, first),
    }));
  }

  private async queued(db: Reader, blocked: readonly { first: number | null }[]): Promise<Map<number, QueuedRow>> {
    const positions = blocked.flatMap(({ first }) => first ?? []);
    return new Map((await findQueuedAt(db, {}, positions)).map((row) => [row.seq, row]));
  }
}

// One that has started meanwhile no longer waits.
const rowIn = (rows: ReadonlyMap<number, QueuedRow>, seq: number | null): QueuedRow | null =>
  seq === null ? null : (rows.get(seq) ?? null);
