import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { Path, Window } from './artifact-paths.js';
import { type ChangelogFilter, type ChangelogPage, type ChangelogRow, deletedBehind, lastUpTo, pageAlong, pathsOf } from './changelog-rows.js';

/** Artifacts that one read looks at: a few milliseconds. */
const LOOKED_AT_ONCE = 500;

const NOTHING: Pick<ChangelogPage, 'rows' | 'isAll'> = { rows: [], isAll: true };

const ASK_AGAIN_MS = 5;
const MOST_QUESTIONS = 200;

/** What the changelog reads: artifacts in the order of their positions, without their payloads. */
@Injectable()
export class ChangelogStore {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** The position of the last artifact, be it deleted by now, that all before it are visible with; 0 where there was none. */
  async end(): Promise<number> {
    const { reader } = this.unitOfWork;
    return Math.max(await lastUpTo(reader, await this.decided()), (await deletedBehind(reader, 0, [])) ?? 0);
  }

  /** A position beyond which no reader can have read. */
  lastGiven(): Promise<number> {
    return this.unitOfWork.lastPosition('artifacts');
  }

  /**
   * The next artifacts behind a position, in order, no further than positions are final: whoever goes on behind the last of them
   * misses none and sees none twice. Not so behind `final` itself, since a database that has crashed gives out positions again that
   * nothing was committed at.
   */
  async after(position: number, limit = LOOKED_AT_ONCE): Promise<{ rows: ChangelogRow[]; isAll: boolean; final: number }> {
    const final = await this.unitOfWork.finalPosition('artifacts');
    const window = { low: position, high: final };
    const { rows, isAll } = final > position ? await pageAlong(this.unitOfWork.reader, [{ by: 'all' }], window, limit) : NOTHING;
    return { rows, isAll, final };
  }

  /** How to read what a filter asks for, in parts. */
  async reader(filter: ChangelogFilter): Promise<ChangelogReader> {
    return new ChangelogReader(this.unitOfWork, filter, await pathsOf(this.unitOfWork.reader, filter));
  }

  // A process that has just begun to look, while others write, knows of nothing until those have ended.
  private async decided(): Promise<number> {
    for (let asked = 1; ; asked += 1) {
      const final = await this.unitOfWork.finalPosition('artifacts');
      if (final > 0 || asked === MOST_QUESTIONS || (await this.lastGiven()) === 0) return final;
      await setTimeout(ASK_AGAIN_MS);
    }
  }
}

/** Reads along the narrowest way to what a filter asks for. */
export class ChangelogReader {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly filter: ChangelogFilter,
    private readonly paths: readonly Path[],
  ) {}

  /**
   * What matches of the first part of a window, and how far that part goes. `deletedUpTo`: the last position behind `low` at which
   * something was deleted that may have matched; null where nothing was.
   */
  async read({ low, high }: Window): Promise<{ rows: ChangelogRow[]; upTo: number; deletedUpTo: number | null }> {
    const { rows, upTo } = await pageAlong(this.unitOfWork.reader, this.paths, { low, high }, LOOKED_AT_ONCE);
    // After the rows: what was deleted before they were read is known now.
    const deletedUpTo = await deletedBehind(this.unitOfWork.reader, low, this.filter.types);
    return { rows: rows.filter((row) => asksFor(this.filter, row)), upTo, deletedUpTo };
  }
}

export const asksFor = ({ correlationIds, types, producers }: ChangelogFilter, row: Pick<ChangelogRow, 'correlation_id' | 'type' | 'produced_by'>): boolean =>
  isAmong(correlationIds, row.correlation_id) && isAmong(types, row.type) && isAmong(producers, row.produced_by);

const isAmong = (asked: readonly string[], value: string): boolean => asked.length === 0 || asked.includes(value);
