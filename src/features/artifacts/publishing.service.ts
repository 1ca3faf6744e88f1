import { Injectable } from '@nestjs/common';

import { ArtifactHandover, type AwaitedArtifacts } from '../../blackboard/artifacts/artifact-handover.js';
import { CorrelationWaiters } from '../../blackboard/correlations/correlation-waiters.js';
import type { Published } from '../../blackboard/publishing/publication.js';
import { Publisher } from '../../blackboard/publishing/publisher.js';
import { ArtifactStore } from '../../blackboard/queries/artifact-store.js';
import type { Item } from '../../blackboard/queries/stored-pieces.js';
import { type FindRows, type StoredText, StoredTexts } from '../../blackboard/queries/stored-texts.js';
import { wholeRow, type WireRow } from '../../blackboard/queries/wire-rows.js';
import { OUTSIDE } from '../../catalog/definitions.js';
import { toVisibility } from '../../catalog/parse-visibility.js';
import { PUBLIC } from '../../catalog/visibility.js';
import { Clock } from '../../common/clock.js';
import type { HeldRequest } from '../../common/held-request.js';
import { lastFields } from '../../common/json.js';
import { deadlineMs } from '../../http/dto/deadline.js';
import { refuseTooManyValues } from '../../http/validation/filter-values.js';
import type { RequestIds } from '../idempotency/request-ids.js';
import { WebhookTargets } from '../webhooks/webhook-targets.js';
import type { AcceptedBody, PublishRequest } from './dto/publish-request.js';
import { DEFAULT_TIMEOUT_SECONDS, type ProducedFilters, type SyncPublishRequest } from './dto/sync-publish-request.js';

/** Publishes artifacts of clients, and waits for the results of a synchronous publish. */
@Injectable()
export class PublishingService {
  constructor(
    private readonly publisher: Publisher,
    private readonly waiters: CorrelationWaiters,
    private readonly handover: ArtifactHandover,
    private readonly artifacts: ArtifactStore,
    private readonly texts: StoredTexts,
    private readonly clock: Clock,
    private readonly webhooks: WebhookTargets,
  ) {}

  async publish(request: PublishRequest, ids: RequestIds): Promise<AcceptedBody> {
    await this.store(request, ids, { isAwaited: false });
    return { status: 'accepted' };
  }

  /**
   * Returns a SyncPublishBody as JSON. It shows the state at the time when the answer was composed, even if a slow
   * client reads it later.
   */
  async publishAndWait(request: SyncPublishRequest, ids: RequestIds, held: HeldRequest): Promise<StoredText> {
    const { timeout = DEFAULT_TIMEOUT_SECONDS, filters = {} } = request;
    refuseTooManyValues({ 'filters.type_names': filters.type_names, 'filters.produced_by': filters.produced_by });
    held.waits();
    const started = this.clock.now();
    const { correlationId, completed, artifacts } = await this.handover.during(ids.correlationId, (awaited) =>
      this.waiters.during(ids.correlationId, async (wait) => {
        const published = await this.store(request, ids, { isAwaited: true });
        held.releaseBody(request);
        const timeoutMs = timeout * 1_000;
        const { correlationId, generation } = published;
        const completed = published.isRepeated
          ? await this.waiters.wait(correlationId, generation, timeoutMs)
          : await wait(generation, timeoutMs);
        return { correlationId, completed, artifacts: await this.producedSince(published, awaited, filters) };
      }),
    );
    const durationMs = Math.round(this.clock.now() - started);
    const end = lastFields({ completed, duration_ms: durationMs });
    return this.texts.ofEffect(
      [`{"correlation_id":${JSON.stringify(correlationId)},"artifacts":[`, artifacts, `]${end}`],
      // A process that stops ends the wait. The same request waits again in another process.
      { isFinal: completed || durationMs >= timeout * 1_000 },
    );
  }

  private async store(
    request: PublishRequest,
    ids: RequestIds,
    { isAwaited }: { isAwaited: boolean },
  ): Promise<Published> {
    const { madeId: artifactId, correlationId, isNewCorrelation } = ids;
    return this.publisher.publish({
      artifactId,
      correlationId,
      isNewCorrelation,
      isAwaited,
      type: request.type,
      payload: request.payload ?? {},
      tags: [...new Set(request.tags)],
      partitionKey: request.partition_key ?? null,
      visibility: request.visibility ? toVisibility(request.visibility) : PUBLIC,
      deadlineMs: deadlineMs(request.deadline),
      companion: request.webhook && (await this.webhooks.forPublish(request.webhook)),
    });
  }

  /** Returns what agents published after the artifact. */
  private producedSince(
    published: Published,
    awaited: AwaitedArtifacts,
    { type_names: types = [], produced_by: producers = [] }: ProducedFilters,
  ): Promise<Item[]> {
    const isWanted = ({ type, produced_by }: Pick<WireRow, 'type' | 'produced_by'>): boolean =>
      isAnyOf(types, type) && isAnyOf(producers, produced_by);
    const known = published.isRepeated ? null : awaited.after(published);
    if (known) {
      const produced = known.filter((row) => !OUTSIDE.includes(row.produced_by) && isWanted(row));
      return this.texts.items(produced.map(wholeRow));
    }
    const find: FindRows = (after, limit, most) =>
      this.artifacts.producedAfter(published.correlationId, after, limit, most);
    return this.texts.itemsAlong(find, published.seq, isWanted);
  }
}

const isAnyOf = (asked: readonly string[], value: string): boolean => asked.length === 0 || asked.includes(value);
