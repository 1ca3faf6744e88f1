import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Transaction } from '../../database/unit-of-work.js';
import { CorrelationSettled } from '../correlations/correlation-settled.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { TimerQueue } from './timer-queue.js';

/**
 * Until when a generation of a correlation has to settle. Its timer keeps nothing open: it is no work, and goes when the generation has
 * settled. Whoever sets or drops one holds the correlation, and takes the timer after it.
 */
@Injectable()
export class Deadlines implements OnModuleInit {
  constructor(
    private readonly timers: TimerQueue,
    private readonly settled: CorrelationSettled,
  ) {}

  onModuleInit(): void {
    this.settled.add((tx, correlation) => this.drop(tx, correlation));
  }

  /** Of two for one generation, the earlier one (epoch ms) holds. */
  async set(tx: Transaction, correlation: TrackedCorrelation, at: number): Promise<void> {
    if (correlation.deadline_at !== null && correlation.deadline_at <= at) return;
    await this.drop(tx, correlation);
    correlation.deadline_at = at;
    await this.timers.set(tx, 'deadline', at, subjectOf(correlation));
  }

  private async drop(tx: Transaction, correlation: TrackedCorrelation): Promise<void> {
    if (correlation.deadline_at === null) return;
    correlation.deadline_at = null;
    await this.timers.cancel(tx, 'deadline', subjectOf(correlation));
  }
}

/** A generation of a correlation, as a timer names it. */
const subjectOf = ({ id, generation }: Pick<TrackedCorrelation, 'id' | 'generation'>): string => `${generation} ${id}`;

export function generationOf(subject: string): { id: string; generation: number } {
  const space = subject.indexOf(' ');
  return { id: subject.slice(space + 1), generation: Number(subject.slice(0, space)) };
}
