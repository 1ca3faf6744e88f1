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
export type PublicationHook = (tx: Transaction, published: readonly PublishedArtifact[], now: number) => Promise<void>;

/** Where features say what must be written together with every artifact, so that the core knows no feature. */
@Injectable()
export class ArtifactsPublished {
  private readonly hooks: PublicationHook[] = [];

  /** For a feature's start, before any transaction. */
  add(hook: PublicationHook): void {
    this.hooks.push(hook);
  }

  async run(tx: Transaction, published: readonly PublishedArtifact[], now: number): Promise<void> {
    for (const hook of this.hooks) await hook(tx, published, now);
  }
}
