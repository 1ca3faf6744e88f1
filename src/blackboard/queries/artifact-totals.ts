import { Injectable } from '@nestjs/common';

import { MemoryBudget } from '../../common/memory-budget.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { findCorrelation } from '../correlations/correlation-rows.js';
import { countsOf } from '../correlations/tracked-correlation.js';
import { everPublished, kindsByRollup, totalByRollup } from './artifact-count-rows.js';
import { type ArtifactFilter, asksForKindOnly, NO_FILTER } from './artifact-filter.js';
import { type Path, routesOf, spanOf, type Window } from './artifact-paths.js';
import { type ArtifactSummary, SummaryCounts } from './artifact-summary.js';
import { narrowest } from './narrowest-route.js';
import { countAllSteps, countKinds, countMatching, windows } from './path-rows.js';
import { withoutNeedlessCondition } from './replay-rows.js';

// Steps per query. Counting reads only an index; reading the artifacts too takes a few milliseconds.
const COUNT_WINDOW = 20_000;
const LOOK_WINDOW = 1_000;
/** Smaller, because the tags are read too, and one artifact can have 25 KB of them. */
const TAGS_WINDOW = 250;

/**
 * Totals and summaries of artifacts. Filters on types, producers and visibility kinds alone use the rollups and the few
 * artifacts after them. A correlation's total is stored with the correlation. Every other filter walks the narrowest
 * route.
 */
@Injectable()
export class ArtifactTotals {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly memory: MemoryBudget,
  ) {}

  async count(given: ArtifactFilter = NO_FILTER): Promise<number> {
    const { reader } = this.unitOfWork;
    if (asksForKindOnly(given)) return totalByRollup(reader, given);
    const filter = await withoutNeedlessCondition(reader, given);
    const [route, ...others] = routesOf(filter);
    if (others.length > 0 || !filter.replays) return this.countMatching(filter);
    return filter.correlationId === null
      ? this.countAlong(route!.paths[0]!)
      : this.countCorrelation(filter.correlationId);
  }

  /** The number of artifacts ever published, including those that retention has deleted. It never falls. */
  published(): Promise<number> {
    return everPublished(this.unitOfWork.reader);
  }

  /** Throws DomainError `unavailable` if there are more distinct tags than the memory budget allows. */
  async summarize(filter: ArtifactFilter): Promise<ArtifactSummary> {
    const withTags = filter.correlationId !== null || filter.tags.length > 0;
    const counts = new SummaryCounts();
    if (asksForKindOnly(filter)) counts.addKinds(await kindsByRollup(this.unitOfWork.reader, filter));
    else await this.countKinds(filter, counts, withTags);
    return counts.summary(withTags);
  }

  private async countKinds(filter: ArtifactFilter, counts: SummaryCounts, withTags: boolean): Promise<void> {
    const reservation = this.memory.reserve(0);
    try {
      for await (const [path, window, rest] of this.walk(filter, withTags ? TAGS_WINDOW : LOOK_WINDOW)) {
        counts.addKinds(await countKinds(this.unitOfWork.reader, path, window, rest, withTags));
        reservation.resize(counts.bytes);
      }
    } finally {
      reservation.release();
    }
  }

  private async countCorrelation(id: string): Promise<number> {
    const correlation = await findCorrelation(this.unitOfWork.reader, id);
    return correlation ? countsOf(correlation).artifact_count : 0;
  }

  private async countAlong(path: Path): Promise<number> {
    const { reader } = this.unitOfWork;
    let total = 0;
    for await (const window of windows(reader, path, spanOf(path), COUNT_WINDOW)) {
      total += await countAllSteps(reader, path, window);
    }
    return total;
  }

  private async countMatching(filter: ArtifactFilter): Promise<number> {
    let total = 0;
    for await (const [path, window, rest] of this.walk(filter, LOOK_WINDOW)) {
      total += await countMatching(this.unitOfWork.reader, path, window, rest);
    }
    return total;
  }

  /** Yields every window of the narrowest route, with the conditions that its artifacts must still meet. */
  private async *walk(filter: ArtifactFilter, size: number): AsyncGenerator<[Path, Window, ArtifactFilter]> {
    const { reader } = this.unitOfWork;
    const { paths, rest } = await narrowest(reader, routesOf(filter));
    for (const path of paths) {
      for await (const window of windows(reader, path, spanOf(path), size)) yield [path, window, rest];
    }
  }
}
