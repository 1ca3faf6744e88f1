import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import type { TrackedCorrelation } from './tracked-correlation.js';

/** An artifact that a transaction has stored and counted. */
export interface PublishedArtifact {
  seq: number;
  id: string;
  correlation: TrackedCorrelation;
  /** Its number within the correlation, starting at 1. */
  sequence: number;
}

/**
 * Writes more rows in the transaction that stores artifacts. The transaction has locked their correlations, or inserts them
 * afterwards: a hook changes the object of a correlation, never its row.
 */
export type PublicationHook = (tx: Transaction, published: readonly PublishedArtifact[], now: number) => Promise<void>;

/** Features register here what to write together with every artifact, so that the core does not depend on them. */
@Injectable()
export class ArtifactsPublished {
  private readonly hooks: PublicationHook[] = [];

  /** Call this when the feature starts, before the first transaction. */
  add(hook: PublicationHook): void {
    this.hooks.push(hook);
  }

  async run(tx: Transaction, published: readonly PublishedArtifact[], now: number): Promise<void> {
    for (const hook of this.hooks) await hook(tx, published, now);
  }
}
