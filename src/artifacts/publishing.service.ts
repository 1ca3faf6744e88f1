import { Injectable } from '@nestjs/common';
import { type Artifact, artifactFromRow } from '../blackboard/artifact.js';
import { ArtifactStore } from '../blackboard/queries/artifact-store.js';
import { Blackboard, type Published } from '../blackboard/blackboard.js';
import { toVisibility } from '../catalog/given-visibility.js';
import { PUBLIC } from '../catalog/visibility.js';
import { Clock } from '../common/clock.js';
import type { HeldRequest } from '../common/held-request.js';
import { deadlineMs } from '../http/dto/deadline.js';
import { refuseTooManyValues } from '../http/filter-values.js';
import type { RequestIds } from '../idempotency/request-ids.js';
import { WebhookTargets } from '../webhooks/webhook-targets.js';
import type { AcceptedBody, SyncPublishBody } from './dto/publish-bodies.js';
import type { PublishRequest } from './dto/publish-request.js';
import { DEFAULT_TIMEOUT_SECONDS, type ProducedFilters, type SyncPublishRequest } from './dto/sync-publish-request.js';

/** Publishes what clients send, and waits for what comes of it. */
@Injectable()
export class PublishingService {
  constructor(
    private readonly blackboard: Blackboard,
    private readonly artifacts: ArtifactStore,
    private readonly clock: Clock,
    private readonly webhooks: WebhookTargets,
  ) {}

  async publish(request: PublishRequest, ids: RequestIds): Promise<AcceptedBody> {
    await this.store(request, ids);
    return { status: 'accepted' };
  }

  async publishAndWait(request: SyncPublishRequest, ids: RequestIds, held: HeldRequest): Promise<SyncPublishBody> {
    const { timeout = DEFAULT_TIMEOUT_SECONDS, filters = {} } = request;
    refuseTooManyValues({ 'filters.type_names': filters.type_names, 'filters.produced_by': filters.produced_by });
    const started = this.clock.now();
    const { correlationId, opening, seq } = await this.store(request, ids);
    held.letGo(request);
    const completed = await this.blackboard.waitUntilSettled(correlationId, opening, timeout * 1_000);
    return {
      correlation_id: correlationId,
      artifacts: await this.producedSince(correlationId, seq, filters),
      completed,
      duration_ms: Math.round(this.clock.now() - started),
    };
  }

  private async store(request: PublishRequest, { madeId: artifactId, correlationId }: RequestIds): Promise<Published> {
    return this.blackboard.publish({
      artifactId,
      correlationId,
      type: request.type,
      payload: request.payload ?? {},
      tags: [...new Set(request.tags)],
      partitionKey: request.partition_key ?? null,
      visibility: request.visibility ? toVisibility(request.visibility) : PUBLIC,
      deadlineMs: deadlineMs(request.deadline),
      companion: request.webhook && (await this.webhooks.forPublish(request.webhook)),
    });
  }

  private async producedSince(correlationId: string, seq: number, filters: ProducedFilters): Promise<Artifact[]> {
    const { type_names: types = [], produced_by: producers = [] } = filters;
    const produced: Artifact[] = [];
    for await (const rows of this.artifacts.producedAfter(correlationId, seq)) {
      const wanted = rows.filter((row) => isAnyOf(types, row.type) && isAnyOf(producers, row.produced_by));
      produced.push(...wanted.map(artifactFromRow));
    }
    return produced;
  }
}

const isAnyOf = (asked: readonly string[], value: string): boolean => asked.length === 0 || asked.includes(value);
