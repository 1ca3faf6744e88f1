import { Injectable } from '@nestjs/common';

import type { Subscription } from '../../catalog/definitions.js';
import type { ReplayMode } from '../../database/schema.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { CorrelationTracker } from '../correlations/correlation-tracker.js';
import { Admission } from '../publishing/admission.js';
import { MatchedArtifacts } from '../publishing/matched-artifacts.js';
import { ExecutionQueue } from '../scheduling/execution-queue.js';
import { WaitingArrivals } from '../scheduling/waiting-arrivals.js';
import { type Original, Originals } from './originals.js';
import { type RepeatedArtifact, RepeatedArtifacts } from './repeated-artifacts.js';

export interface ReplayRequest {
  original: Original;
  mode: ReplayMode;
  /** The id of the new correlation, a UUID. */
  correlationId: string;
}

/** Publishes the artifacts of clients again, in a new correlation that names its origin. */
@Injectable()
export class Replays {
  constructor(
    private readonly originals: Originals,
    private readonly admission: Admission,
    private readonly repeated: RepeatedArtifacts,
    private readonly artifacts: MatchedArtifacts,
    private readonly executions: ExecutionQueue,
    private readonly arrivals: WaitingArrivals,
    private readonly tracker: CorrelationTracker,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Stores the artifacts and everything that they trigger in one transaction; resolves after its commit. DomainError:
   * `conflict` (an artifact or a run does not fit the configuration any more, or the new correlation exists),
   * `unavailable`.
   */
  async begin(request: ReplayRequest): Promise<void> {
    await this.admission.refuseWhenBusy();
    const { original } = request;
    const subscription = this.originals.invokedSubscription(original);
    await this.repeated.with(original, request.correlationId, (prepared) =>
      this.unitOfWork.run((tx) => this.storeAll(tx, request, prepared, subscription)),
    );
  }

  private async storeAll(
    tx: Transaction,
    { original, mode, correlationId }: ReplayRequest,
    prepared: readonly RepeatedArtifact[],
    subscription: Subscription | null,
  ): Promise<void> {
    await tx.lock(this.artifacts.lockKeys(prepared));
    const changes = this.tracker.begin(tx);
    const replay = { origin: original.id, replay_mode: mode, replay_options: null };
    const correlation = await changes.create(correlationId, { background: true, hasRun: false, replay });
    const positions = new Map<number, number>();
    for (const artifact of prepared) {
      const seq = (await this.artifacts.insert(tx, artifact))!;
      positions.set(artifact.repeats, seq);
      await this.artifacts.trigger(tx, changes, correlation, seq, artifact);
    }
    const inputs = original.invokedInputs.map((seq) => positions.get(seq)!);
    const direct = original.invoked?.direct === 1;
    if (subscription) await this.executions.add(tx, changes, { subscription, correlation, inputs, direct });
    this.arrivals.refuseExcess(tx);
    await changes.save();
  }
}
