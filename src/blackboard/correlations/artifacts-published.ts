import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/unit-of-work.js';
import type { TrackedCorrelation } from './tracked-correlation.js';

/** An artifact that a transaction has stored and counted. */
export interface PublishedArtifact {
  seq: number;
  id: string;
  correlation: TrackedCorrelation;
  /** Its number in the correlation, from 1. */
  sequence: number;
  /** What published it, in its correlation's trace; null where nothing is traced. */
  traceparent: string | null;
}

/** What is written together with the artifacts of a transaction, which holds their correlations. */
export type PublicationFollower = (tx: Transaction, published: readonly PublishedArtifact[], now: number) => Promise<void>;

/** Where features say what must be written together with every artifact, so that the core knows no feature. */
@Injectable()
export class ArtifactsPublished {
  private readonly followers: PublicationFollower[] = [];

  /** For a feature's start, before any transaction. */
  add(follower: PublicationFollower): void {
    this.followers.push(follower);
  }

  async tell(tx: Transaction, published: readonly PublishedArtifact[], now: number): Promise<void> {
    for (const follow of this.followers) await follow(tx, published, now);
  }
}
