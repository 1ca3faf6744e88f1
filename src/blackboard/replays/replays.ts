import { Injectable } from '@nestjs/common';

import type { Subscription } from '../../catalog/definitions.js';
import type { ReplayChanges } from '../../catalog/overrides.js';
import type { ReplayMode } from '../../database/schema.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { findCorrelation } from '../correlations/correlation-rows.js';
import { type CorrelationChanges, CorrelationTracker } from '../correlations/correlation-tracker.js';
import { replayOptionsText } from '../correlations/replay-options.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { MatchedArtifacts } from '../publishing/matched-artifacts.js';
import { ExecutionQueue } from '../scheduling/execution-queue.js';
import { WaitingArrivals } from '../scheduling/waiting-arrivals.js';
import { countClientArtifacts } from './original-rows.js';
import { type Original, Originals } from './originals.js';
import { type PreparedReplay, RecordedReplays } from './recorded-replays.js';
import { type RepeatedArtifact, RepeatedArtifacts } from './repeated-artifacts.js';

export interface ReplayRequest {
  original: Original;
  mode: ReplayMode;
  changes: ReplayChanges;
  /** The id of the new correlation, a UUID. */
  correlationId: string;
  /** Runs at the end of the same transaction. If it throws, nothing is stored. */
  inTransaction?: (tx: Transaction) => Promise<void>;
}

export interface BegunReplay {
  origin: string;
  mode: ReplayMode;
  /** How many artifacts of clients it has. */
  published: number;
}

interface RepeatedWork {
  original: Original;
  artifacts: readonly RepeatedArtifact[];
  /** That of the agent that a caller has named. */
  subscription: Subscription | null;
}

/** Publishes the artifacts of clients again, in a new correlation that names its origin. */
@Injectable()
export class Replays {
  constructor(
    private readonly originals: Originals,
    private readonly recorded: RecordedReplays,
    private readonly repeated: RepeatedArtifacts,
    private readonly artifacts: MatchedArtifacts,
    private readonly executions: ExecutionQueue,
    private readonly arrivals: WaitingArrivals,
    private readonly tracker: CorrelationTracker,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Finds the replay that is stored in this correlation. */
  async find(correlationId: string): Promise<BegunReplay | undefined> {
    const { reader } = this.unitOfWork;
    const correlation = await findCorrelation(reader, correlationId);
    if (!correlation || correlation.origin === null) return undefined;
    const published = await countClientArtifacts(reader, correlationId);
    return { origin: correlation.origin, mode: correlation.replay_mode!, published };
  }

  /**
   * Stores the artifacts and everything that they trigger in one transaction; resolves after its commit. DomainError:
   * `conflict` (an artifact or a run does not fit the configuration any more, or the new correlation exists),
   * `unavailable`. The caller calls `Admission.refuseWhenBusy` first.
   */
  async begin(request: ReplayRequest): Promise<void> {
    const { original, mode, correlationId } = request;
    if (mode !== 'full') return this.recorded.with(request, (prepared) => this.storeNow(request, prepared));
    const subscription = this.originals.invokedSubscription(original);
    return this.repeated.with(original, correlationId, (artifacts) =>
      this.storeNow(request, {
        lockKeys: this.artifacts.lockKeys(artifacts),
        store: (tx, changes, correlation) =>
          this.repeat(tx, changes, correlation, { original, artifacts, subscription }),
      }),
    );
  }

  private storeNow(
    { original, mode, changes: differing, correlationId, inTransaction }: ReplayRequest,
    { lockKeys, store }: PreparedReplay,
  ): Promise<void> {
    return this.unitOfWork.run(async (tx) => {
      await tx.lock(lockKeys);
      const changes = this.tracker.begin(tx);
      const beginning = original.invoked ? 'invoked' : 'published';
      const variantsFrom = original.variantsFrom === original.id ? null : original.variantsFrom;
      const options = replayOptionsText(differing, { origin: 'correlation', variantsFrom });
      const replay = { origin: original.id, replay_mode: mode, replay_options: options };
      const correlation = await changes.create(correlationId, { background: true, beginning, replay });
      await store(tx, changes, correlation);
      this.arrivals.refuseExcess(tx);
      await changes.save();
      await inTransaction?.(tx);
    });
  }

  private async repeat(
    tx: Transaction,
    changes: CorrelationChanges,
    correlation: TrackedCorrelation,
    { original, artifacts, subscription }: RepeatedWork,
  ): Promise<void> {
    const positions = new Map<number, number>();
    for (const artifact of artifacts) {
      const stored = (await this.artifacts.insert(tx, artifact))!;
      positions.set(artifact.repeats, stored.seq);
      await this.artifacts.trigger(tx, changes, correlation, [{ stored, matched: artifact }]);
    }
    const inputs = original.invokedInputs.map((seq) => positions.get(seq)!);
    const direct = original.invoked?.direct === 1;
    if (subscription) await this.executions.add(tx, changes, { subscription, correlation, inputs, direct });
  }
}
