import { Injectable } from '@nestjs/common';

import { scheduler } from '../../common/scheduler.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { Path, Window } from './artifact-paths.js';
import {
  type ChangelogFilter,
  type ChangelogOrder,
  type ChangelogPage,
  type ChangelogRow,
  deletedBehind,
  lastUpTo,
  pageAlong,
  pathsOf,
} from './changelog-rows.js';

/** Artifacts per read, which takes a few milliseconds. */
const LOOKED_AT_ONCE = 500;

const NOTHING: Pick<ChangelogPage, 'rows' | 'isAll'> = { rows: [], isAll: true };

const ASK_AGAIN_MS = 5;
const MOST_QUESTIONS = 200;

/** Reads artifacts for the changelog: sorted by position, without their payloads. */
@Injectable()
export class ChangelogStore {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /**
   * Returns the last position up to which all artifacts are visible, including deleted ones, or 0 if there was no
   * artifact.
   */
  async end(): Promise<number> {
    const { reader } = this.unitOfWork;
    return Math.max(await lastUpTo(reader, await this.decided()), (await deletedBehind(reader, 0, [])) ?? 0);
  }

  /** A position that is not less than any position a reader can have seen. */
  lastGiven(): Promise<number> {
    return this.unitOfWork.lastPosition('artifacts');
  }

  /**
   * Returns the next artifacts after a position, sorted, up to the last final position. A reader that continues after
   * the last of them misses none and sees none twice. It must not continue after `final` itself: after a crash the
   * database assigns positions again at which nothing was committed.
   */
  async after(
    position: number,
    limit = LOOKED_AT_ONCE,
  ): Promise<{ rows: ChangelogRow[]; isAll: boolean; final: number }> {
    const final = await this.unitOfWork.finalPosition('artifacts');
    const window = { low: position, high: final };
    const { rows, isAll } =
      final > position ? await pageAlong(this.unitOfWork.reader, [{ by: 'all' }], window, limit) : NOTHING;
    return { rows, isAll, final };
  }

  /** Returns a reader that reads the artifacts of a filter in parts. */
  async reader(filter: ChangelogFilter, order: ChangelogOrder = 'asc'): Promise<ChangelogReader> {
    return new ChangelogReader(this.unitOfWork, filter, await pathsOf(this.unitOfWork.reader, filter), order);
  }

  // While other processes write, a process that has just started sees no final position until their transactions end.
  private async decided(): Promise<number> {
    for (let asked = 1; ; asked += 1) {
      const final = await this.unitOfWork.finalPosition('artifacts');
      if (final > 0 || asked === MOST_QUESTIONS || (await this.lastGiven()) === 0) return final;
      await scheduler.pause(ASK_AGAIN_MS);
    }
  }
}

/** Reads along the narrowest route of a filter. */
export class ChangelogReader {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly filter: ChangelogFilter,
    private readonly paths: readonly Path[],
    private readonly order: ChangelogOrder,
  ) {}

  /**
   * Returns the matching rows of the first part of a window, and the position where that part ends. `deletedUpTo` is
   * the last position after the lowest one of the part at which something was deleted that may have matched, or null.
   */
  async read({ low, high }: Window): Promise<{ rows: ChangelogRow[]; upTo: number; deletedUpTo: number | null }> {
    const { rows, upTo } = await pageAlong(
      this.unitOfWork.reader,
      this.paths,
      { low, high },
      LOOKED_AT_ONCE,
      this.order,
    );
    // This query must run after the one for the rows: it then includes every deletion that the rows lack.
    const lowest = this.order === 'asc' ? low : upTo;
    const deletedUpTo = await deletedBehind(this.unitOfWork.reader, lowest, this.filter.types);
    return { rows: rows.filter((row) => asksFor(this.filter, row)), upTo, deletedUpTo };
  }
}

export const asksFor = (
  { correlationIds, types, producers, replays }: ChangelogFilter,
  row: Pick<ChangelogRow, 'correlation_id' | 'type' | 'produced_by' | 'replay'>,
): boolean =>
  (replays || correlationIds.length > 0 || row.replay === 0) &&
  isAmong(correlationIds, row.correlation_id) &&
  isAmong(types, row.type) &&
  isAmong(producers, row.produced_by);

const isAmong = (asked: readonly string[], value: string): boolean => asked.length === 0 || asked.includes(value);
