import type { Reader } from '../../database/unit-of-work.js';
import { type CorrelationFilter, isBefore, type Place, type Term } from './correlation-filter.js';
import { type CorrelationSteps, type Step } from './correlation-steps.repository.js';

const MOST_STEPS = 1_000;

/** Reads the correlations that meet one condition of a filter, some at a time, and keeps those that meet the others. */
export abstract class Walk {
  /** In the order of the list. */
  protected found: Place[] = [];
  protected hasEnded = false;
  private size: number;

  /** `isSelective`: some of the steps may not match. */
  constructor(
    protected readonly wanted: number,
    isSelective: boolean,
  ) {
    this.size = isSelective ? Math.min(2 * wanted, MOST_STEPS) : wanted;
  }

  /** The first `wanted` places of the page, or all that there are; null if more must be read to find them. */
  abstract get page(): Place[] | null;

  async readOn(): Promise<void> {
    const steps = await this.next(this.size);
    this.hasEnded = steps.length < this.size;
    this.size = Math.min(2 * this.size, MOST_STEPS);
    this.keep(steps.filter(({ matches }) => matches === 1));
  }

  /** Returns the next steps; fewer than `limit` if there are no more. */
  protected abstract next(limit: number): Promise<Step[]>;

  protected abstract keep(steps: readonly Step[]): void;
}

/** Reads in the order of the list. */
export class WalkAlongTerms extends Walk {
  constructor(
    private readonly steps: CorrelationSteps,
    private readonly db: Reader,
    /** The correlations with any of these. */
    private readonly terms: readonly Term[],
    private readonly rest: CorrelationFilter,
    private after: Place | null,
    wanted: number,
  ) {
    super(wanted, rest.terms.length > 0 || rest.idPrefix !== null || !rest.replays);
  }

  override get page(): Place[] | null {
    return this.hasEnded || this.found.length >= this.wanted ? this.found.slice(0, this.wanted) : null;
  }

  protected override async next(limit: number): Promise<Step[]> {
    const steps = await this.steps.alongTerms(this.db, this.terms, this.rest, this.after, limit);
    this.after = steps.at(-1) ?? this.after;
    return steps;
  }

  protected override keep(steps: readonly Step[]): void {
    this.found.push(...steps);
  }
}

/** Reads in the order of the ids, so that only its end shows which correlations are the newest. */
export class WalkAlongIds extends Walk {
  private lastId: string | null = null;

  constructor(
    private readonly steps: CorrelationSteps,
    private readonly db: Reader,
    private readonly filter: CorrelationFilter & { idPrefix: string },
    private readonly after: Place | null,
    wanted: number,
  ) {
    super(wanted, true);
  }

  override get page(): Place[] | null {
    return this.hasEnded ? this.found : null;
  }

  protected override async next(limit: number): Promise<Step[]> {
    const steps = await this.steps.alongIds(this.db, this.filter, this.after, this.lastId, limit);
    this.lastId = steps.at(-1)?.id ?? this.lastId;
    return steps;
  }

  protected override keep(steps: readonly Step[]): void {
    this.found = [...this.found, ...steps].sort((one, other) => (isBefore(one, other) ? -1 : 1)).slice(0, this.wanted);
  }
}
