import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { BackgroundLoop } from '../../common/background-loop.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { deleteFromLine } from '../fairness/fair-key-rows.js';
import { findKeysInLines } from '../fairness/fair-lines.js';
import type { LimitKey } from '../matching/limit-keys.js';
import { findBlockedAmong, findKeysOfHolders } from './blocked-execution-rows.js';
import { BlockedExecutions } from './blocked-executions.js';
import { ALL_KEYS, findBlockedKeys } from './blocked-key-rows.js';
import { deleteForgotten } from './breaker-rows.js';
import { KeyScan } from './key-scan.js';
import { keyText, keyTexts, parseKey } from './key-texts.js';
import { LATE_AFTER_MS, LateAgents } from './late-agents.js';
import { LimitHolders, type UsedLimits } from './limit-holders.js';
import { deleteUnusedRates } from './limit-rows.js';
import { limitLock, SharedLimits } from './shared-limits.js';
import { turnText } from './singleton-turns.js';

const LOOK_AGAIN_MS = 1_000;
/** While this process knows of none that waits for a limit, it looks once for all executions that end within this time. */
const LOOK_TOGETHER_MS = 50;
/** For a process without limits. */
const LOOK_FOR_OTHERS_MS = 5_000;
/** Keys of the signals in one transaction. */
const KEYS_AT_ONCE = 500;
/** Times that are remembered. Later ones are noticed by looking at all keys. */
const MOST_TIMES = 10_000;
const DELETE_EVERY_MS = 60_000;

/** Looks for limits that have room, and lets executions go that wait for them. */
@Injectable()
export class LimitReleases {
  private readonly loop: BackgroundLoop;
  private isWorking = false;
  private unsubscribe = (): unknown => undefined;
  private readonly keys = new Set<string>();
  /** Key → when its rate has room (epoch ms). */
  private readonly times = new Map<string, number>();
  private readonly lateAgents = new LateAgents();
  private readonly scan = new KeyScan<UsedLimits>({
    keys: (after, limit) => findBlockedKeys(this.unitOfWork.reader, { ...ALL_KEYS, after }, limit),
    used: () => this.holders.used(this.unitOfWork.reader),
  });
  /** When it last asked whether executions wait for keys (epoch ms). */
  private lookedAt = -Infinity;
  private deletedAt = -Infinity;
  /** Keys of lines were looked at up to this position. */
  private keysUpTo = 0;

  constructor(
    private readonly limits: SharedLimits,
    private readonly holders: LimitHolders,
    private readonly blocked: BlockedExecutions,
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.loop = new BackgroundLoop(() => this.pass(), {
      clock,
      logger,
      failure: 'letting executions start that waited for a limit failed',
      backOffMs: LOOK_AGAIN_MS,
    });
  }

  start(): void {
    this.isWorking = true;
    const unsubscribes = [
      this.signals.limitFreed.subscribe((key) => (key === null ? this.changed() : this.freed([key]))),
      // Signals may have been lost.
      this.signals.resync.subscribe(() => this.changed()),
    ];
    this.unsubscribe = () => unsubscribes.forEach((unsubscribe) => unsubscribe());
    this.lookAgain();
  }

  async stop(): Promise<void> {
    this.isWorking = false;
    this.unsubscribe();
    await this.loop.stop();
  }

  /** Whether executions wait for limits, as far as this process knows. */
  get someWait(): boolean {
    return this.scan.areSome;
  }

  /** An execution with these keys (`keyText`) has ended, or does not start although it was let go. */
  freed(keys: readonly string[]): void {
    if (keys.length === 0) return;
    if (!this.isWorking) return keys.forEach((key) => this.signals.limitFreed.publishElsewhere(key));
    for (const key of keys) this.keys.add(key);
    this.loop.wake(this.nextLook());
  }

  /** An execution has begun to wait for these keys (`keyText`). Room may have become free meanwhile. */
  waits(keys: readonly string[]): void {
    this.scan.areSome = true;
    this.freed(keys);
  }

  /** These executions have ended. Others may have their turns, and the shares that they held while they waited. */
  turnsFreed(ended: readonly { agent: string; singleton_key: string | null; held_keys: string | null }[]): void {
    this.freed(
      ended.flatMap(({ agent, singleton_key: key, held_keys: held }) => [
        ...(key === null ? [] : [turnText(agent, key)]),
        ...this.holders.heldKeys(held).map(keyText),
      ]),
    );
  }

  /**
   * Executions with these keys (`executions.limit_keys`) no longer run, and no process notices by itself: a client held them,
   * or their process has ended.
   */
  noLongerRun(limitKeys: readonly (string | null)[]): void {
    this.freed(limitKeys.flatMap(keyTexts));
  }

  /** The rate of this key has room at `time` (epoch ms). */
  at(key: string, time: number): void {
    // Another process asks for the time itself.
    if (!this.isWorking) return this.signals.limitFreed.publishElsewhere(key);
    if (this.times.has(key) || this.times.size < MOST_TIMES) this.remember(key, time);
  }

  private remember(key: string, time: number): void {
    this.times.set(key, Math.min(time, this.times.get(key) ?? Infinity));
    this.loop.wake(time);
  }

  /** The values of a limit have changed. */
  changed(): void {
    if (!this.isWorking) return this.signals.limitFreed.publishElsewhere(null);
    this.scan.beginNow();
    this.loop.wake();
  }

  /** Some executions stop running without a signal, such as those of a process that was killed. */
  @Interval(LOOK_AGAIN_MS)
  lookAgain(): void {
    // A process without limits looks less often while nothing waits.
    if (!this.limits.areNone || this.scan.areSome) this.lookAtAll();
  }

  /** Also looks for agents that only other processes have: these may leave it to this one to let their executions start. */
  @Interval(LOOK_FOR_OTHERS_MS)
  lookAtAll(): void {
    if (!this.isWorking) return;
    this.scan.begin();
    this.loop.wake();
  }

  private async pass(): Promise<number | null> {
    const now = this.clock.now();
    for (const [key, time] of this.times) {
      if (time > now) continue;
      this.times.delete(key);
      this.keys.add(key);
    }
    await this.lookAtAsked(now);
    await this.lookAtNextPart(now);
    if (this.scan.isRunning) return now;
    const next = Math.min(...this.times.values(), this.keys.size > 0 ? this.nextLook() : Infinity);
    return next === Infinity ? null : next;
  }

  /** When the keys are looked at that were freed (epoch ms). */
  private nextLook(): number {
    const now = this.clock.now();
    // At most one pause from now, also if the clock was set back.
    return this.scan.areSome ? now : Math.max(now, Math.min(now, this.lookedAt) + LOOK_TOGETHER_MS);
  }

  private async lookAtAsked(now: number): Promise<void> {
    const asked = [...this.keys].slice(0, KEYS_AT_ONCE);
    if (asked.length === 0) return;
    asked.forEach((key) => this.keys.delete(key));
    this.lookedAt = now;
    const blocked = await findBlockedAmong(this.unitOfWork.reader, asked);
    const waiting = new Set(blocked);
    this.lateAgents.forget(asked.filter((key) => !waiting.has(key)));
    if (blocked.length === 0) return;
    // A process without limits looks again at those that others have, and that nothing may tell it of.
    this.scan.areSome = true;
    await this.release(await this.withRoom(blocked, now));
  }

  private async lookAtNextPart(now: number): Promise<void> {
    if (!this.scan.isRunning) return;
    const part = await this.scan.next();
    if (part) await this.release(await this.withRoom(part.keys, now, part.used));
    if (!this.limits.areNone && this.clock.now() - this.deletedAt >= DELETE_EVERY_MS) await this.deleteUnused();
  }

  /**
   * Leaves out keys without room for the execution that waits first, and remembers when they have some. For them, a
   * transaction of each worker would hold the locks of claims. `used`: what was used a while ago. If a key has got room since,
   * the signal of that, or the next scan, looks at it again.
   */
  private async withRoom(texts: readonly string[], now: number, used?: UsedLimits): Promise<LimitKey[]> {
    const { reader } = this.unitOfWork;
    const keys = await this.limits.asOfFirst(reader, texts.map(parseKey));
    const usage = await this.limits.usage(reader, keys, now, used);
    const full = keys.filter((key) => usage.obstacle(key) !== null);
    const ofHolders = new Set(this.holders.held(full).length > 0 ? await findKeysOfHolders(reader) : []);
    return keys.filter((key) => {
      const obstacle = usage.obstacle(key);
      // An execution that holds the limit may have room, and a transaction stores the right time of one that is shut too long.
      if (obstacle === null || ofHolders.has(keyText(key)) || usage.isShutTooLong(key)) return true;
      if (obstacle.at !== null) this.at(keyText(key), obstacle.at);
      return false;
    });
  }

  private async deleteUnused(): Promise<void> {
    this.deletedAt = this.clock.now();
    const { keys, last } = await findKeysInLines(this.unitOfWork.reader, this.keysUpTo);
    this.keysUpTo = last ?? 0;
    await this.unitOfWork.run(async (tx) => {
      await tx.lock([...new Set([...keys.keys()].map(({ blockedOn }) => limitLock(parseKey(blockedOn)[0])))].sort());
      await deleteUnusedRates(tx, this.clock.now());
      await deleteForgotten(tx, this.clock.now());
      // A release deletes the others: of these, all executions were cancelled.
      for (const [line, some] of keys) await deleteFromLine(tx, line, some);
    });
  }

  private async release(keys: readonly LimitKey[]): Promise<void> {
    const passable = await this.limits.passable(this.unitOfWork.reader, keys);
    if (passable.length === 0) return;
    const late = await this.lateAgents.find(this.unitOfWork.reader, passable.map(keyText), this.clock.now());
    await this.unitOfWork.run(async (tx) => {
      const { agents, again, parts, times, gone } = await this.blocked.release(tx, passable, late);
      tx.afterCommit(() => {
        gone.forEach((ofAgents, key) => this.watch(key, ofAgents));
        agents.forEach((agent) => this.signals.executionReturned.publishEverywhere(agent));
        // Nothing else would remember a key of which only a part has gone.
        times.forEach((time, key) => (parts.has(key) ? this.remember(key, time) : this.at(key, time)));
        this.freed([...again]);
      });
    });
  }

  /** Looks again at what has gone. Where only one agent takes part, no others wait that could pass it. */
  private watch(key: string, ofAgents: ReadonlyMap<string, string>): void {
    if (ofAgents.size === 0 || !this.limits.ofSeveralAgents.has(parseKey(key)[0])) return;
    const now = this.clock.now();
    this.lateAgents.remember(key, ofAgents, now);
    this.remember(key, now + LATE_AFTER_MS);
  }
}
