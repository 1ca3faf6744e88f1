import { Injectable } from '@nestjs/common';

import type { Visibility } from '../../catalog/visibility.js';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import type { JsonObject } from '../../common/json.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import { parsedSize } from '../../common/parsed-size.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { Drafts } from '../publishing/drafts.js';
import { type MatchedArtifact, MatchedArtifacts } from '../publishing/matched-artifacts.js';
import { type Original, Originals } from './originals.js';

export interface RepeatedArtifact extends MatchedArtifact {
  /** The position of the artifact that it repeats. */
  repeats: number;
}

/** Makes the artifacts of clients ready to be stored again, in a replay. */
@Injectable()
export class RepeatedArtifacts {
  constructor(
    private readonly originals: Originals,
    private readonly memory: MemoryBudget,
    private readonly drafts: Drafts,
    private readonly artifacts: MatchedArtifacts,
  ) {}

  /**
   * Prepares all artifacts of the original, and holds their memory during `work`. DomainError: `conflict` (one does not
   * fit the configuration any more, or was deleted), `unavailable` (there is no memory).
   */
  async with<T>(
    original: Original,
    correlationId: string,
    work: (prepared: readonly RepeatedArtifact[]) => Promise<T>,
  ): Promise<T> {
    const rows = await this.originals.read(original);
    const bytes = rows.reduce((sum, { payload }) => sum + parsedSize(Buffer.from(payload)), 0);
    return this.memory.during(bytes, async () => {
      const prepared: RepeatedArtifact[] = [];
      for (const row of rows) prepared.push(await this.prepare(original, row, correlationId));
      return work(prepared);
    });
  }

  private async prepare(original: Original, row: ArtifactRow, correlationId: string): Promise<RepeatedArtifact> {
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
      const draft = this.drafts.check(given, this.drafts.growthLimit());
      // The inputs of a run trigger nothing but its agent.
      const isInput = original.invokedInputs.includes(row.seq);
      const matched = isInput ? { draft, releaseAt: null, triggered: [] } : await this.artifacts.match(draft);
      return { ...matched, repeats: row.seq };
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'invalid') throw error;
      throw new DomainError('conflict', `Artifact ${row.id} cannot be replayed: ${error.message}`);
    }
  }
}
