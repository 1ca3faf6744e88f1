import { Injectable } from '@nestjs/common';

import type { Window } from '../../blackboard/queries/artifact-paths.js';
import { ChangelogStore } from '../../blackboard/queries/changelog-store.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import { laterTurn } from '../../common/scheduler.js';
import { JsonText } from '../../http/responses/send-json.js';
import { type ChangelogEventsQuery, toChangelogFilter } from './dto/changelog-query.js';
import { entryText, type GapEntry } from './entry.js';
import { Resuming } from './resuming.js';

/**
 * Maximum number of parts that one request reads, each of some hundred artifacts. The page ends there if fewer match.
 */
const MOST_PARTS = 10;

/** The page ends after this many characters. The last part may exceed it. */
const ENOUGH = 256 * 1_024;

/** The text is in memory twice: as entries, and as the answer. */
const COPIES = 2;

/** Returns the changelog in pages. */
@Injectable()
export class ChangelogEventsService {
  constructor(
    private readonly store: ChangelogStore,
    private readonly resuming: Resuming,
    private readonly memory: MemoryBudget,
  ) {}

  /**
   * Returns a ChangelogEventsBody as JSON. Throws DomainError `invalid` if `after` is beyond the end, and
   * `unavailable` if there is no memory.
   */
  async list(query: ChangelogEventsQuery): Promise<JsonText> {
    const held = this.memory.reserve(0);
    try {
      return await this.page(query, (characters) => held.resize(COPIES * characters));
    } finally {
      held.release();
    }
  }

  private async page(query: ChangelogEventsQuery, hold: (characters: number) => void): Promise<JsonText> {
    const { limit, order } = query;
    const isForward = order === 'asc';
    // A page that goes backwards cannot miss what is published later, so it may begin anywhere.
    if (isForward) await this.resuming.check('after', query.after ?? 0);
    const high = await this.store.end();
    const after = query.after ?? (isForward ? 0 : high + 1);
    const windowAfter = (position: number): Window =>
      isForward ? { low: position, high } : { low: 0, high: Math.min(high, position - 1) };
    const hasMore = (position: number): boolean => windowAfter(position).low < windowAfter(position).high;
    const reader = await this.store.reader(toChangelogFilter(query), order);
    const entries: string[] = [];
    let characters = 0;
    let next = after;
    let deletedUpTo: number | null = null;
    for (
      let parts = 0;
      parts < MOST_PARTS && entries.length < limit && characters < ENOUGH && hasMore(next);
      parts += 1
    ) {
      const part = await reader.read(windowAfter(next));
      const taken = part.rows.slice(0, limit - entries.length);
      deletedUpTo = part.deletedUpTo ?? deletedUpTo;
      next = taken.length < part.rows.length ? taken.at(-1)!.seq : part.upTo;
      for (const row of taken) characters += entries[entries.push(entryText(row)) - 1]!.length;
      hold(characters);
      // Matches may be far apart, and node:sqlite is synchronous. Yielding lets other requests run.
      await laterTurn();
    }
    const gap = isForward
      ? gapOf(after, deletedUpTo)
      : // The last part may have reached below the end of the page.
        gapOf(next, deletedUpTo && Math.min(deletedUpTo, windowAfter(after).high));
    const items = [...gap.map((entry) => JSON.stringify(entry)), ...entries];
    return new JsonText(
      `{"items":[${items.join(',')}],"pagination":${JSON.stringify({ limit, after, next, has_more: hasMore(next) })}}`,
    );
  }
}

const gapOf = (seq: number, upTo: number | null): GapEntry[] =>
  upTo === null || upTo <= seq ? [] : [{ seq, event_type: 'gap', to_seq: upTo }];
