import { Injectable } from '@nestjs/common';

import { Admission } from '../../blackboard/publishing/admission.js';
import { type Original, Originals } from '../../blackboard/replays/originals.js';
import { Replays } from '../../blackboard/replays/replays.js';
import { Diagnostics } from '../../catalog/diagnostics.js';
import { DomainError } from '../../common/domain-error.js';
import { isUuid } from '../../common/ids.js';
import { refuse } from '../../http/validation/refuse.js';
import type { RequestIds } from '../idempotency/request-ids.js';
import type { ReplayBody } from './dto/replay-body.js';
import type { ReplayRequest } from './dto/replay-request.js';
import { RequestedChanges } from './requested-changes.js';

@Injectable()
export class ReplaysService {
  constructor(
    private readonly originals: Originals,
    private readonly replays: Replays,
    private readonly changes: RequestedChanges,
    private readonly admission: Admission,
  ) {}

  /** Throws DomainError `invalid`, `not_found`, `conflict`, `unavailable`. */
  async ofCorrelation(id: string, request: ReplayRequest, ids: RequestIds): Promise<ReplayBody> {
    return this.once(() => this.originals.ofCorrelation(id), request, ids);
  }

  /** Throws DomainError `invalid`, `not_found`, `conflict`, `unavailable`. */
  async ofArtifact(id: string, request: ReplayRequest, ids: RequestIds): Promise<ReplayBody> {
    if (!isUuid(id)) throw new DomainError('invalid', `artifact_id: must be a UUID (got ${JSON.stringify(id)})`);
    return this.once(() => this.originals.ofArtifact(id.toLowerCase()), request, ids);
  }

  private async once(
    read: () => Promise<Original>,
    { mode, configuration, overrides }: ReplayRequest,
    { correlationId }: RequestIds,
  ): Promise<ReplayBody> {
    // A request that is repeated with its idempotency key after a crash finds the replay that it began, even if the
    // original could not be replayed now.
    const begun = await this.replays.find(correlationId);
    if (begun) return { correlation_id: correlationId, ...begun };
    const problems = new Diagnostics();
    const changes = await this.changes.check({ configuration, overrides }, mode, problems);
    refuse(problems);
    const original = await read();
    await this.admission.refuseReplayWhenBusy(changes.configuration);
    await this.replays.begin({ original, mode, changes, correlationId });
    return { correlation_id: correlationId, origin: original.id, mode, published: original.artifacts.length };
  }
}
