import { Injectable } from '@nestjs/common';

import { artifactFromRow } from '../../artifacts/artifact.js';
import { Matching, type Reactions } from '../../matching/matching.js';
import { Triggering } from '../../publishing/triggering.js';
import { ArtifactStore } from '../../queries/artifact-store.js';
import type { Timer } from '../../scheduling/timer-rows.js';
import type { TimerHandler, TimerWork } from '../timer-handler.js';
import { TimerMemory } from '../timer-memory.js';

/** Releases an artifact to its subscriptions and to what it cancels. The subject is its position. */
@Injectable()
export class ArtifactRelease implements TimerHandler {
  constructor(
    private readonly artifacts: ArtifactStore,
    private readonly matching: Matching,
    private readonly triggering: Triggering,
    private readonly memory: TimerMemory,
  ) {}

  async prepare({ subject }: Timer): Promise<TimerWork> {
    const seq = Number(subject);
    const { id, type, correlationId, payloadBytes, replay } = await this.artifacts.headAt(seq);
    const reactions = await this.memory.forPayloads(payloadBytes, () => this.reactionsTo(seq));
    return {
      lockKeys: this.triggering.lockKeys(reactions.triggered, { id: correlationId, isReplay: replay === 1 }),
      correlationId,
      run: async (tx, changes) => {
        const correlation = await changes.get(correlationId);
        await this.triggering.start(tx, changes, { seq, id, type }, correlation, reactions);
        correlation.pending -= 1;
      },
    };
  }

  private async reactionsTo(seq: number): Promise<Reactions> {
    const [row] = await this.artifacts.at([seq]);
    const artifact = artifactFromRow(row!);
    return this.matching.reactions({ artifact, visibility: artifact.visibility, createdAt: row!.created_at });
  }
}
