import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { ChangelogRow } from '../blackboard/queries/changelog-rows.js';
import { ChangelogStore } from '../blackboard/queries/changelog-store.js';
import type { ChangelogEventsBody } from './dto/changelog-events-body.js';
import type { ChangelogEventsQuery } from './dto/changelog-events-query.js';
import { toChangelogFilter } from './dto/changelog-filter-query.js';
import { type GapEntry, publishedEntry } from './entry.js';
import { Resuming } from './resuming.js';

/** Parts that one request reads, of some hundred artifacts each: where fewer match, the page ends where it has come to. */
const MOST_PARTS = 10;

/** The changelog in pages. */
@Injectable()
export class ChangelogEventsService {
  constructor(
    private readonly store: ChangelogStore,
    private readonly resuming: Resuming,
  ) {}

  /** DomainError `invalid` where it begins behind the end. */
  async list(query: ChangelogEventsQuery): Promise<ChangelogEventsBody> {
    const { limit } = query;
    const filter = toChangelogFilter(query);
    const after = await this.resuming.check('after', query.after);
    const high = await this.store.end();
    const reader = await this.store.reader(filter);
    const rows: ChangelogRow[] = [];
    let next = after;
    let deletedUpTo: number | null = null;
    for (let parts = 0; parts < MOST_PARTS && rows.length < limit && next < high; parts += 1) {
      const part = await reader.read({ low: next, high });
      const taken = part.rows.slice(0, limit - rows.length);
      deletedUpTo = part.deletedUpTo ?? deletedUpTo;
      next = taken.length < part.rows.length ? taken.at(-1)!.seq : part.upTo;
      rows.push(...taken);
      // What matches may be far apart, and node:sqlite answers at once: others get their turn.
      await setImmediate();
    }
    const gap: GapEntry[] = deletedUpTo === null ? [] : [{ seq: after, event_type: 'gap', to_seq: deletedUpTo }];
    return { items: [...gap, ...rows.map(publishedEntry)], pagination: { limit, after, next, has_more: next < high } };
  }
}
