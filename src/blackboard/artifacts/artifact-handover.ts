import { Injectable, type OnModuleInit } from '@nestjs/common';

import { MemoryBudget, type MemoryReservation } from '../../common/memory-budget.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { CorrelationSettled } from '../correlations/correlation-settled.js';
import type { ArtifactRow } from './artifact.js';

/** Artifacts that are kept of a correlation. */
const MOST_ARTIFACTS = 64;
/** Characters of a payload. */
const LONGEST_PAYLOAD = 4 * 1_024;

/** An artifact of the correlation after which others are asked for. `sequence`: its number within the correlation. */
export interface Place {
  seq: number;
  sequence: number;
}

class AwaitedCorrelation {
  requests = 0;
  private readonly rows: ArtifactRow[] = [];
  private readonly reservations: MemoryReservation[] = [];
  private isFull = false;
  /** How many artifacts the correlation had when it settled in this process. */
  private settledWith: number | null = null;

  constructor(private readonly memory: MemoryBudget) {}

  add(row: ArtifactRow): void {
    const isKept = this.rows.length < MOST_ARTIFACTS && row.payload.length <= LONGEST_PAYLOAD;
    const reservation = isKept && !this.isFull ? this.memory.reserveNow(row.payload.length) : null;
    if (!reservation) return void (this.isFull = true);
    this.reservations.push(reservation);
    this.rows.push(row);
  }

  settled(count: number): void {
    this.settledWith = count;
  }

  after({ seq, sequence }: Place): ArtifactRow[] | null {
    if (this.isFull || this.settledWith === null) return null;
    const rows = this.rows.filter((row) => row.seq > seq).sort((one, other) => one.seq - other.seq);
    return rows.length === this.settledWith - sequence ? rows : null;
  }

  release(): void {
    this.reservations.forEach((reservation) => reservation.release());
  }
}

/** The artifacts of a correlation for which a request waits. */
export interface AwaitedArtifacts {
  /**
   * Returns the artifacts after this one, in their order, as they were when the correlation settled. Null if this
   * process does not know all of them, because others stored some, or because they are many or large.
   */
  after(place: Place): ArtifactRow[] | null;
}

/**
 * Keeps the artifacts that this process stores in correlations for whose results a request waits, so that most answers
 * need no query.
 */
@Injectable()
export class ArtifactHandover implements OnModuleInit {
  private readonly awaited = new Map<string, AwaitedCorrelation>();

  constructor(
    private readonly memory: MemoryBudget,
    private readonly settled: CorrelationSettled,
  ) {}

  onModuleInit(): void {
    this.settled.add(async (tx, { id, artifact_count: count }) => {
      const correlation = this.awaited.get(id);
      if (correlation) tx.afterCommit(() => correlation.settled(count));
    });
  }

  /** Call this before the artifact that adds the awaited work is stored. */
  async during<T>(correlationId: string, work: (artifacts: AwaitedArtifacts) => Promise<T>): Promise<T> {
    let correlation = this.awaited.get(correlationId);
    if (!correlation) this.awaited.set(correlationId, (correlation = new AwaitedCorrelation(this.memory)));
    correlation.requests += 1;
    try {
      return await work(correlation);
    } finally {
      correlation.requests -= 1;
      if (correlation.requests === 0) {
        this.awaited.delete(correlationId);
        correlation.release();
      }
    }
  }

  /** Call this in the transaction that stores the artifact. */
  stored(tx: Transaction, row: ArtifactRow): void {
    const correlation = this.awaited.get(row.correlation_id);
    if (correlation) tx.afterCommit(() => correlation.add(row));
  }
}
