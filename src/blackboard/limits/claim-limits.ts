import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { Admitted } from '../../queue/row-claims.js';
import { countStartsInLines, giveBackTurns, inTurnsOfLines, waitingLine } from '../fairness/fair-lines.js';
import type { LimitKey } from '../matching/limit-keys.js';
import {
  blockExecutions,
  countNextStart,
  findBlockedAmong,
  findReleased,
  type ReleasedRow,
} from './blocked-execution-rows.js';
import { keyText, keyTexts, parseKeys } from './key-texts.js';
import { LimitHolders } from './limit-holders.js';
import { LimitReleases } from './limit-releases.js';
import { forgetPlaces, setHeldKeys, setRates } from './limit-rows.js';
import type { NoRoom } from './limit-usage.js';
import { SharedLimits } from './shared-limits.js';

interface Limited {
  id: string;
  /** Its agent. */
  queue: string;
  fair_key: string | null;
  fair_weight: number | null;
  limit_keys: string | null;
  held_keys: string | null;
  unblocked: number;
  counted_in: string | null;
}

/** An execution with its limits, which are parsed once for a claim. */
type WithKeys<Row> = Row & {
  keys: readonly LimitKey[];
  /** The texts of the keys (`keyText`). */
  limits: readonly string[];
};

/** Decides in the transaction of a claim which executions the limits let start. */
@Injectable()
export class ClaimLimits {
  constructor(
    private readonly limits: SharedLimits,
    private readonly holders: LimitHolders,
    private readonly releases: LimitReleases,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns those of the rows that may start. The others leave the queue until their limit has room, so that no later
   * claim reads them again; `blocked` has their ids. Without limited rows, it asks the database nothing.
   */
  async admit<Row extends Limited>(tx: Transaction, rows: readonly Row[]): Promise<Admitted<Row>> {
    if (rows.every(({ limit_keys }) => limit_keys === null))
      return { admitted: [...rows], blocked: new Set(), startedAt: this.clock.now() };
    const limited = rows.map(withKeys);
    const waiting = new Map<string, NoRoom>();
    // Postgres gets both together and answers them in this order, so what waits is read after the lock.
    const [usage, lines] = await Promise.all([
      this.limits.hold(
        tx,
        limited.flatMap(({ keys }) => keys),
      ),
      this.findLines(tx, limited),
    ]);
    for (const row of await inTurnsOfLines(tx.db, limited)) {
      const { id, keys, limits, unblocked } = row;
      const held = this.holders.heldTexts(row);
      const line = unblocked === 1 ? undefined : limits.find((limit) => lines.has(limit) && !held.has(limit));
      const obstacle = line === undefined ? usage.take(keys, held, id) : { blockedOn: line, at: null };
      if (obstacle) waiting.set(id, obstacle);
    }
    const fitting = limited.filter(({ id }) => !waiting.has(id));
    const admitted = await this.holdUntilEnd(tx, fitting);
    // Nothing else of the claim depends on it.
    tx.withAnswer(setRates(tx.db, [...usage.changed.values()]), () => undefined);
    for (const { id, limits } of admitted) await forgetPlaces(tx, id, usage.places.keptFor(limits, id));
    await countStartsInLines(tx, admitted);
    const counted = admitted.filter(({ counted_in }) => counted_in !== null).map(({ id }) => id);
    tx.withAnswer(countNextStart(tx.db, {}, counted), () => undefined);
    const blocked = await this.returnToLines(tx, limited, waiting);
    return { admitted, blocked, startedAt: usage.now };
  }

  /** Lets rows wait that have found no room, with what must not overtake them. Returns the ids of these rows. */
  private async returnToLines(
    tx: Transaction,
    rows: readonly WithKeys<Limited>[],
    waiting: Map<string, NoRoom>,
  ): Promise<ReadonlySet<string>> {
    const overtaking = await this.findOvertaking(tx, rows, waiting);
    for (const { id, counted_in } of overtaking) waiting.set(id, { blockedOn: counted_in, at: null });
    await giveBackTurns(tx, [
      ...rows.filter(({ id }) => waiting.has(id)),
      ...overtaking.map((row) => ({ ...row, limits: [row.counted_in] })),
    ]);
    const limitsOf = new Map([
      ...rows.map(({ id, limits }) => [id, limits] as const),
      ...overtaking.map(({ id, limit_keys }) => [id, keyTexts(limit_keys)] as const),
    ]);
    const blocked = await this.block(tx, waiting, limitsOf);
    return new Set(rows.flatMap(({ id }) => (blocked.has(id) ? id : [])));
  }

  /**
   * A limit that has no room for an execution that it has let go takes back what else it has let go to this agent. Otherwise,
   * while that execution waits for its turn once more, the others would start before it. Returns these others.
   */
  private async findOvertaking(
    tx: Transaction,
    rows: readonly Limited[],
    waiting: ReadonlyMap<string, NoRoom>,
  ): Promise<ReleasedRow[]> {
    const stopped = rows.filter(
      ({ id, counted_in }) => counted_in !== null && waiting.get(id)?.blockedOn === counted_in,
    );
    const chosen = new Set(rows.map(({ id }) => id));
    const lines = new Map(
      stopped.map(({ queue, counted_in }) => [
        waitingLine(queue, counted_in!).line,
        { agent: queue, countedIn: counted_in! },
      ]),
    );
    const found: ReleasedRow[] = [];
    for (const line of lines.values()) found.push(...(await findReleased(tx.db, line)));
    return found.filter(({ id }) => !chosen.has(id));
  }

  /**
   * Returns the limits for which others wait already. What no limit has let go waits behind them, as new executions do:
   * otherwise those that wait would start after all that is ready. A process learns within a second that some wait.
   */
  private async findLines(
    tx: Transaction,
    rows: readonly { limits: readonly string[]; unblocked: number }[],
  ): Promise<ReadonlySet<string>> {
    const limits = rows.filter(({ unblocked }) => unblocked === 0).flatMap((row) => row.limits);
    if (limits.length === 0 || !this.releases.someWait) return new Set();
    return new Set(await findBlockedAmong(tx.db, limits));
  }

  /** An execution with these keys has ended or waits again. Others may start. */
  free(limitKeys: string): void {
    this.releases.freed(keyTexts(limitKeys));
  }

  /**
   * Stores what the rows hold until they end if they start now. A limit that this process does not know is held too: if it
   * came back with `hold`, a row with a part of its limits could wait for one that waits for this part. Returns those that may
   * start: a row that another transaction has locked cannot store it. Limits without `hold` need no statement.
   */
  private async holdUntilEnd<Row extends WithKeys<Limited>>(tx: Transaction, rows: readonly Row[]): Promise<Row[]> {
    const toStore = new Map<string, string>();
    for (const { id, keys, held_keys } of rows) {
      const toHold = keys.filter((key) => this.holders.mayHold(key));
      const stored = new Set(keyTexts(held_keys));
      // After a change of the configuration, one that has started before may hold more.
      if (toHold.some((key) => !stored.has(keyText(key)))) toStore.set(id, JSON.stringify(toHold));
    }
    const stored = new Set<string>();
    for (const [heldKeys, some] of Map.groupBy(toStore, ([, keys]) => keys)) {
      const ids = some.map(([id]) => id);
      for (const { id } of await setHeldKeys(tx.db, { heldKeys }, ids)) stored.add(id);
    }
    return rows.filter(({ id }) => !toStore.has(id) || stored.has(id));
  }

  private async block(
    tx: Transaction,
    waiting: ReadonlyMap<string, NoRoom>,
    limitsOf: ReadonlyMap<string, readonly string[]>,
  ): Promise<ReadonlySet<string>> {
    const blocked = new Set<string>();
    for (const [blockedOn, some] of Map.groupBy(waiting, ([, obstacle]) => obstacle.blockedOn)) {
      const ids = some.map(([id]) => id);
      for (const { id } of await blockExecutions(tx.db, { blockedOn }, ids)) blocked.add(id);
      const times = some.flatMap(([, { at }]) => at ?? []);
      // The other limits of these executions may have let them go, and have room for others now. This limit may have room too,
      // if an execution has ended before the commit, because the look at that end has not seen those that wait here. If a rate
      // has no room, it is known when it has some.
      const limits = ids.flatMap((id) => limitsOf.get(id)!);
      const looked = times.length > 0 ? limits.filter((limit) => limit !== blockedOn) : limits;
      tx.afterCommit(() => {
        if (times.length > 0) this.releases.at(blockedOn, Math.min(...times));
        this.releases.waits(looked);
      });
    }
    return blocked;
  }
}

function withKeys<Row extends Limited>(row: Row): WithKeys<Row> {
  const keys = row.limit_keys === null ? [] : parseKeys(row.limit_keys);
  return { ...row, keys, limits: keys.map(keyText) };
}
