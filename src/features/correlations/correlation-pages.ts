import { Injectable } from '@nestjs/common';

import { termsReached } from '../../blackboard/queries/rollup-rows.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import type { CorrelationState } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { CorrelationFilter, Place } from './correlation-filter.js';
import { CorrelationSteps } from './correlation-steps.repository.js';
import { type Walk, WalkAlongIds, WalkAlongTerms } from './correlation-walks.js';

const STATES = ['active', 'completed', 'failed', 'cancelled'] as const satisfies CorrelationState[];

/** Finds the correlations on a page of the list. */
@Injectable()
export class CorrelationPages {
  constructor(private readonly steps: CorrelationSteps) {}

  /**
   * Returns the first `wanted` correlations after a place that meet a filter, newest first. Each condition is a way to
   * find them. All ways are taken in turn, some steps each, until one has found the page, so the time is proportional
   * to the shortest of them.
   */
  async page(
    db: Reader,
    given: Omit<CorrelationFilter, 'reached'>,
    after: Place | null,
    wanted: number,
  ): Promise<Place[]> {
    const walks = this.walks(db, { ...given, reached: await termsReached(db) }, after, wanted);
    for (;;) {
      for (const walk of walks) {
        await walk.readOn();
        if (walk.page) return walk.page;
        await yieldToEventLoop();
      }
    }
  }

  private walks(db: Reader, filter: CorrelationFilter, after: Place | null, wanted: number): Walk[] {
    const { terms, idPrefix } = filter;
    const walks: Walk[] = terms.map((term) => {
      const rest = { ...filter, terms: terms.filter((other) => other !== term) };
      return new WalkAlongTerms(this.steps, db, [term], rest, after, wanted);
    });
    if (walks.length === 0) {
      const states = STATES.map((value) => ({ kind: 'state', value }) as const);
      walks.push(new WalkAlongTerms(this.steps, db, states, filter, after, wanted));
    }
    if (idPrefix !== null) walks.push(new WalkAlongIds(this.steps, db, { ...filter, idPrefix }, after, wanted));
    return walks;
  }
}
