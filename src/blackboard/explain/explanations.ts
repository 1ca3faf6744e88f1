import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { Subscription } from '../../catalog/definitions.js';
import { MemoryBudget, type MemoryReservation } from '../../common/memory-budget.js';
import { parsedSize } from '../../common/parsed-size.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { ArtifactStore } from '../queries/artifact-store.js';
import { CancelExplanations } from './cancel-explanations.js';
import type { ArtifactExplanation, Explanation } from './explanation.js';
import { MatcherExplanations } from './matcher-explanations.js';
import { Records } from './records.repository.js';
import { RefusingErrors } from './refusing-errors.js';
import { ofError, StoredFacts } from './stored-facts.js';

/**
 * Explains for every subscription what happened to an artifact. Stored data decides first: executions, waiting groups
 * and errors. For the other subscriptions the matcher decides, with the current configuration, as it would have when
 * the artifact was published.
 */
@Injectable()
export class Explanations {
  constructor(
    private readonly catalog: Catalog,
    private readonly artifacts: ArtifactStore,
    private readonly records: Records,
    private readonly errors: RefusingErrors,
    private readonly storedFacts: StoredFacts,
    private readonly matcherExplanations: MatcherExplanations,
    private readonly cancelExplanations: CancelExplanations,
    private readonly memory: MemoryBudget,
  ) {}

  /**
   * Returns undefined if no artifact has this id. Throws DomainError `unavailable` if expressions cannot be evaluated
   * now or the artifact does not fit into memory.
   */
  async of(artifactId: string): Promise<ArtifactExplanation | undefined> {
    const bytes = await this.artifacts.sizeOf(artifactId);
    if (bytes === undefined) return undefined;
    const held = this.memory.reserve(bytes);
    try {
      const row = await this.artifacts.get(artifactId);
      if (!row) return undefined;
      // The expressions need the parsed payload.
      held.resize(bytes + parsedSize(Buffer.from(row.payload)));
      return await this.ofRow(row, held);
    } finally {
      held.release();
    }
  }

  private async ofRow(row: ArtifactRow, held: MemoryReservation): Promise<ArtifactExplanation> {
    const recorded = await this.records.of(row);
    const facts = await this.storedFacts.of(recorded);
    const subscriptions = this.catalog.agents.flatMap((agent) => agent.subscriptions);
    const explained = new Map(subscriptions.map((subscription) => [subscription, takeFact(facts, subscription)]));
    const errors =
      recorded.correlation?.error_count === 0 ? [] : await this.errors.of(row.id, row.correlation_id, held);
    const open = subscriptions.filter((subscription) => !explained.get(subscription));
    const offer = this.matcherExplanations.offerOf(row, recorded);
    for (const [subscription, found] of await this.matcherExplanations.of(open, offer, recorded, errors))
      explained.set(subscription, found);
    const inOrder = subscriptions.map((subscription) => explained.get(subscription)!);
    const gone = errors.filter(
      ({ id, namesArtifact }) => namesArtifact && !inOrder.some(({ error_artifact_id }) => error_artifact_id === id),
    );
    const cancels = await this.cancelExplanations.of(offer);
    return {
      artifact_id: row.id,
      type: row.type,
      produced_by: row.produced_by,
      correlation_id: row.correlation_id,
      verdicts: [...inOrder, ...facts, ...gone.map((error) => ofError(error, null))],
      ...(cancels.length > 0 && { cancels }),
    };
  }
}

/** Takes the stored fact of this subscription out of the list. */
function takeFact(facts: Explanation[], { agent, index }: Subscription): Explanation | undefined {
  const place = facts.findIndex((fact) => fact.agent === agent && fact.subscription === index);
  return place < 0 ? undefined : facts.splice(place, 1)[0];
}
