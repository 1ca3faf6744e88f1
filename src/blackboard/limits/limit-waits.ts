import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { breakerAgent, shownLimit } from '../../catalog/limits.js';
import { Clock } from '../../common/clock.js';
import { type Reader, UnitOfWork } from '../../database/unit-of-work.js';
import { waitingLine } from '../fairness/fair-lines.js';
import { findPlaceInLine } from '../fairness/turn-waits.repository.js';
import type { LimitKey } from '../matching/limit-keys.js';
import { countBlocked, countBlockedBefore, MOST_COUNTED } from './blocked-execution-rows.js';
import { keyText, parseKey } from './key-texts.js';
import { LimitHolders } from './limit-holders.js';
import type { LimitUsage } from './limit-usage.js';
import { SharedLimits } from './shared-limits.js';
import { shownKey } from './shown-keys.js';
import { isTurn } from './singleton-turns.js';

interface Blocked {
  id: string;
  agent: string;
  fair_key: string | null;
  blocked_on: string | null;
  held_keys: string | null;
  limit_keys: string | null;
  priority: number;
  background: number;
  seq: number;
}

interface Place {
  place: number;
  all: number;
  /** With `fair_by`, the place is that within the key. */
  ofKey: string;
  turns: string[];
}

/** Says what executions wait for that a limit keeps from starting. */
@Injectable()
export class LimitWaits {
  constructor(
    private readonly catalog: Catalog,
    private readonly limits: SharedLimits,
    private readonly holders: LimitHolders,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Id of an execution → text such as `limit openai: 60 of 60 used, 3rd of 41 for customer 17, next in 0.8 s`, without the
   * time if it waits for the concurrency, `3rd of 5 with the key "acme", 12 keys take turns` if its agent has `fair_by`, `singleton of packer:
   * 1 of 1 used, 1st of 2 for order 17`, or `breaker of sender: open, 1st of 2, next in 12.0 s`.
   */
  async texts(rows: readonly Blocked[]): Promise<ReadonlyMap<string, string>> {
    const blocked = rows.filter((row): row is Blocked & { blocked_on: string } => row.blocked_on !== null);
    if (blocked.length === 0) return new Map();
    const { reader } = this.unitOfWork;
    const texts = [...new Set(blocked.map(({ blocked_on }) => blocked_on))];
    const keys = new Map((await this.limits.asOfFirst(reader, texts.map(parseKey))).map((key) => [keyText(key), key]));
    const usage = await this.limits.usage(reader, [...keys.values()], this.clock.now());
    const found = new Map<string, string>();
    for (const [blockedOn, some] of Map.groupBy(blocked, ({ blocked_on }) => blocked_on)) {
      const key = keys.get(blockedOn)!;
      const all = (await countBlocked(reader, { blockedOn }))[0]!.count;
      for (const row of some) found.set(row.id, this.text(key, row, usage, await this.placeOf(reader, key, row, all)));
    }
    return found;
  }

  private async placeOf(db: Reader, key: LimitKey, row: Blocked, all: number): Promise<Place> {
    const { agent, fair_key, priority, background, seq } = row;
    const blockedOn = keyText(key);
    if (fair_key === null || isTurn(key)) {
      const before = await countBlockedBefore(db, { blockedOn, priority, background, seq });
      return { place: before + 1, all: Math.max(all, before + 1), ofKey: '', turns: [] };
    }
    const rank = { fair_key, priority, background, seq };
    const { before, waiting, keys } = await findPlaceInLine(db, waitingLine(agent, blockedOn), rank);
    const turns = keys === 1 ? 'no other key waits' : `${counted(keys)} keys take turns`;
    return {
      place: before + 1,
      all: Math.max(waiting, before + 1),
      ofKey: ` with the key ${fair_key}`,
      turns: [turns],
    };
  }

  private text(key: LimitKey, row: Blocked, usage: LimitUsage, { place, all, ofKey, turns }: Place): string {
    const { id, agent } = row;
    const held = this.holders.heldTexts(row);
    const at = usage.obstacle(key, held, id)?.at ?? null;
    const breaker = usage.breaker(keyText(key)) ?? (breakerAgent(key[0]) === null ? null : 'closed');
    const parts = [
      ...(breaker === null ? [] : [breaker]),
      ...usedOf(key, usage, held.has(keyText(key))),
      `${placeText(place, all)}${ofKey}${key[1] === null ? '' : ` for ${shownKey(key, this.catalog.agent(agent))}`}`,
      ...turns,
      ...(at === null ? [] : [`next in ${((at - usage.now) / 1_000).toFixed(1)} s`]),
    ];
    return `${shownLimit(key[0])}: ${parts.join(', ')}`;
  }
}

/**
 * Says how much of the concurrency is used or, if only the rate has no room, how much of the burst. `isHeld`: the execution
 * needs no room of the concurrency.
 */
function usedOf(key: LimitKey, usage: LimitUsage, isHeld: boolean): string[] {
  const { concurrency = null, rate = null } = usage.limit(key[0]) ?? {};
  const used = usage.inUse(keyText(key));
  const isRate = concurrency === null || ((isHeld || used < concurrency) && usage.roomAt(key) !== null);
  if (rate !== null && isRate) return [`${usage.unitsUsed(key)} of ${rate.burst} used`];
  return concurrency === null ? [] : [`${used} of ${concurrency} used`];
}

const counted = (count: number): string => (count > MOST_COUNTED ? `more than ${MOST_COUNTED}` : String(count));

/** Returns a text such as `3rd of 41`. */
export const placeText = (place: number, all: number): string => `${ordinal(place)} of ${counted(all)}`;

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' });
const SUFFIXES: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' };

const ordinal = (place: number): string =>
  place > MOST_COUNTED ? `after the first ${MOST_COUNTED}` : `${place}${SUFFIXES[ORDINALS.select(place)] ?? 'th'}`;
