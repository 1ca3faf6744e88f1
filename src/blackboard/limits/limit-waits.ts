import { Injectable } from '@nestjs/common';

import { breakerAgent, shownLimit } from '../../catalog/limits.js';
import { Clock } from '../../common/clock.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { LimitKey } from '../matching/limit-keys.js';
import { countBlocked, countBlockedBefore, MOST_COUNTED } from './blocked-execution-rows.js';
import { keyText, type LimitUsage, parseKey } from './limit-usage.js';
import { SharedLimits } from './shared-limits.js';
import { isTurn, turnKey } from './singleton-turns.js';

interface Blocked {
  id: string;
  blocked_on: string | null;
  priority: number;
  background: number;
  seq: number;
}

/** Says what executions wait for that a limit keeps from starting. */
@Injectable()
export class LimitWaits {
  constructor(
    private readonly limits: SharedLimits,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Id of an execution → text such as `limit openai: 60 of 60 used, 3rd of 41 for 17`, with `next in 0.8 s` if it waits
   * for the rate, `singleton of packer: 1 of 1 used, 1st of 2 for 17`, or `breaker of sender: open, 1st of 2, next in 12.0 s`.
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
      const [all] = await countBlocked(reader, { blockedOn });
      for (const { id, priority, background, seq } of some) {
        const before = await countBlockedBefore(reader, { blockedOn, priority, background, seq });
        found.set(id, this.text(key, usage, before + 1, Math.max(all!.count, before + 1)));
      }
    }
    return found;
  }

  private text(key: LimitKey, usage: LimitUsage, place: number, all: number): string {
    const concurrency = usage.limit(key[0])?.concurrency ?? null;
    const at = usage.obstacle(key)?.at ?? null;
    const breaker = usage.breaker(keyText(key)) ?? (breakerAgent(key[0]) === null ? null : 'closed');
    const parts = [
      ...(breaker === null ? [] : [breaker]),
      ...(concurrency === null ? [] : [`${usage.running(keyText(key))} of ${concurrency} used`]),
      `${ordinal(place)} of ${counted(all)}${key[1] === null ? '' : ` for ${shownKey(key)}`}`,
      ...(at === null ? [] : [`next in ${((at - usage.now) / 1_000).toFixed(1)} s`]),
    ];
    return `${shownLimit(key[0])}: ${parts.join(', ')}`;
  }
}

/** As it is, except that an empty or blank text would not be seen without the quotes of JSON. */
function shownKey(key: LimitKey): string {
  const given = isTurn(key) ? turnKey(key) : key[1];
  const text = String(given);
  return text.trim() === '' ? JSON.stringify(given) : text;
}

const counted = (count: number): string => (count > MOST_COUNTED ? `more than ${MOST_COUNTED}` : String(count));

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' });
const SUFFIXES: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' };

const ordinal = (place: number): string =>
  place > MOST_COUNTED ? `after the first ${MOST_COUNTED}` : `${place}${SUFFIXES[ORDINALS.select(place)] ?? 'th'}`;
