import { Injectable } from '@nestjs/common';

import { yieldToEventLoop } from '../../common/event-loop.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Tracing } from '../../observability/tracing/tracing.js';
import type { ArtifactDraft } from '../artifacts/artifact-writer.js';
import { CorrelationTracker } from '../correlations/correlation-tracker.js';
import { Deadlines } from '../scheduling/deadlines.js';
import { WaitingArrivals } from '../scheduling/waiting-arrivals.js';
import { Admission } from './admission.js';
import { Drafts } from './drafts.js';
import { InlineRoom, NO_ROOM } from './inline-runs.js';
import { isShort, MatchedArtifacts } from './matched-artifacts.js';
import type { Publication, Published } from './publication.js';
import { findPublished } from './publishing-rows.js';

/** Characters of a payload's JSON text. */
const LARGE = 64 * 1_024;

/** Rolls back the publish of an artifact that is stored already. */
class AlreadyPublished extends Error {}

/** Publishes artifacts of clients. */
@Injectable()
export class Publisher {
  constructor(
    private readonly admission: Admission,
    private readonly drafts: Drafts,
    private readonly artifacts: MatchedArtifacts,
    private readonly deadlines: Deadlines,
    private readonly arrivals: WaitingArrivals,
    private readonly tracker: CorrelationTracker,
    private readonly unitOfWork: UnitOfWork,
    private readonly tracing: Tracing,
  ) {}

  /**
   * Stores an artifact and everything it triggers in one transaction; resolves after its commit. DomainError: `invalid`
   * (unknown type, or a payload that does not match its schema), `conflict` (closed correlation), `unavailable` (too
   * much work is waiting, or the database cannot be written to).
   */
  async publish(publication: Publication): Promise<Published> {
    await this.admission.refuseWhenBusy();
    return this.drafts.with(publication, (draft) => this.publishDraft(publication, draft));
  }

  private async publishDraft(publication: Publication, draft: ArtifactDraft): Promise<Published> {
    const { artifactId, correlationId, isNewCorrelation = false, companion, deadlineMs = null } = publication;
    const { isAwaited = false } = publication;
    // Checking and serializing a large payload takes time, and so does matching; other requests run between the two.
    if (draft.payloadText.length > LARGE) await yieldToEventLoop();
    const matched = await this.artifacts.match(draft, isAwaited ? new InlineRoom() : NO_ROOM);
    const cause = this.tracing.current();
    const names = [...this.artifacts.lockKeys([matched]), ...(companion?.names ?? [])];
    const isSimple = names.length === 0 && !companion && deadlineMs === null && matched.releaseAt === null;
    const how = isSimple && isShort(draft) ? { group: { kind: 'published', key: correlationId } } : {};
    const publish = async (tx: Transaction): Promise<Published> => {
      await tx.lock(names);
      const changes = this.tracker.begin(tx, cause);
      // A companion updates the row of the correlation, so the row must exist. If the id is not new, both statements are sent
      // together; whether the artifact is stored already counts first, so this one may fail.
      const opened = changes.open(correlationId, { isNew: isNewCorrelation && !companion });
      opened.catch(() => undefined);
      const stored = await this.artifacts.insert(tx, matched);
      if (!stored) throw new AlreadyPublished();
      const correlation = await opened;
      const sequence = correlation.artifact_count + 1;
      await companion?.store(tx, correlation);
      if (deadlineMs !== null) await this.deadlines.set(tx, correlation, changes.now + deadlineMs);
      await this.artifacts.trigger(tx, changes, correlation, [{ stored, matched }]);
      this.arrivals.refuseExcess(tx);
      await changes.save();
      const { seq } = stored;
      return { artifactId, correlationId, seq, sequence, generation: correlation.generation, isRepeated: false };
    };
    try {
      return await this.admission.withinShares(matched, () => this.unitOfWork.run(publish, how));
    } catch (error) {
      if (!(error instanceof AlreadyPublished)) throw error;
      return findPublished(this.unitOfWork.reader, artifactId);
    }
  }
}
