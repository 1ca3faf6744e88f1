import { Injectable } from '@nestjs/common';

import type { GrowthLimit } from '../../catalog/growth-limit.js';
import type { Visibility } from '../../catalog/visibility.js';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import type { JsonObject } from '../../common/json.js';
import { parsedSize } from '../../common/parsed-size.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { NO_REACTIONS } from '../matching/matching.js';
import { Drafts } from '../publishing/drafts.js';
import { type MatchedArtifact, MatchedArtifacts } from '../publishing/matched-artifacts.js';
import { type Original, Originals } from './originals.js';
import { ReplayMemory } from './replay-memory.js';

export interface RepeatedArtifact extends MatchedArtifact {
  /** The position of the artifact that it repeats. */
  repeats: number;
}

/** How many times the text of a payload is in memory: as a row, and as a draft. */
const TEXTS = 2;

/** Makes the artifacts of clients ready to be stored again, in a replay. */
@Injectable()
export class RepeatedArtifacts {
  constructor(
    private readonly originals: Originals,
    private readonly memory: ReplayMemory,
    private readonly drafts: Drafts,
    private readonly artifacts: MatchedArtifacts,
  ) {}

  /**
   * Prepares all artifacts of the original, and holds their memory during `work`. DomainError: `conflict` (an
   * artifact was deleted or no longer fits the configuration, or they need too much memory), `unavailable` (not enough
   * memory is free now).
   */
  async with<T>(
    original: Original,
    correlationId: string,
    work: (prepared: readonly RepeatedArtifact[]) => Promise<T>,
  ): Promise<T> {
    const textBytes = original.artifacts.reduce((sum, { payload_bytes }) => sum + payload_bytes, 0);
    return this.memory.during(original.id, TEXTS * textBytes, async (hold) => {
      const rows = await this.originals.read(original);
      const bytes = rows.reduce((sum, { payload }) => sum + parsedSize(Buffer.from(payload)), textBytes);
      hold(bytes);
      const growth = this.drafts.growthLimit();
      const prepared: RepeatedArtifact[] = [];
      for (const row of rows) prepared.push(await this.prepare(original, row, correlationId, growth));
      hold(bytes + growth.memoryBytes);
      return work(prepared);
    });
  }

  private async prepare(
    original: Original,
    row: ArtifactRow,
    correlationId: string,
    growth: GrowthLimit,
  ): Promise<RepeatedArtifact> {
    const given = {
      artifactId: newId(),
      correlationId,
      type: row.type,
      payload: JSON.parse(row.payload) as JsonObject,
      tags: JSON.parse(row.tags) as string[],
      partitionKey: row.partition_key,
      visibility: JSON.parse(row.visibility) as Visibility,
      producedBy: row.produced_by,
      replay: true,
    };
    try {
      const draft = this.drafts.check(given, growth);
      // The inputs of a run trigger nothing but its agent.
      const isInput = original.invokedInputs.includes(row.seq);
      const matched = isInput ? { draft, releaseAt: null, ...NO_REACTIONS } : await this.artifacts.match(draft);
      return { ...matched, repeats: row.seq };
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'invalid') throw error;
      throw new DomainError('conflict', `Artifact ${row.id} cannot be replayed: ${error.message}`);
    }
  }
}
