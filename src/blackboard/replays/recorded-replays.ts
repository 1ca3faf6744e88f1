import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { ReplayChanges } from '../../catalog/overrides.js';
import type { ReplayMode } from '../../database/schema.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { artifactFromRow, type ArtifactRow } from '../artifacts/artifact.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import type { Triggered } from '../matching/matcher.js';
import { Matching, NO_REACTIONS } from '../matching/matching.js';
import { Triggering } from '../publishing/triggering.js';
import { ExecutionQueue } from '../scheduling/execution-queue.js';
import { AnsweredWork, type CorrelationRecord } from './answered-work.js';
import type { Original } from './originals.js';
import { findRecordedBytes } from './record-rows.js';
import { RecordedCopies } from './recorded-copies.js';
import { Records } from './records.js';
import { ReplayMemory } from './replay-memory.js';

/** How many times the texts of payloads are in memory: as rows, parsed, and as drafts. */
const COPIES = 4;

/** A replay that is ready to be stored. */
export interface PreparedReplay {
  lockKeys: string[];
  store(tx: Transaction, changes: CorrelationChanges, correlation: TrackedCorrelation): Promise<void>;
}

interface RecordedRequest {
  original: Original;
  mode: ReplayMode;
  changes: ReplayChanges;
  correlationId: string;
}

interface DecidedAgain {
  row: ArtifactRow;
  triggered: Triggered[];
}

/** Replays that take what has not changed from the record, and run the rest. A shadow replay asks models again, too. */
@Injectable()
export class RecordedReplays {
  constructor(
    private readonly catalog: Catalog,
    private readonly records: Records,
    private readonly copies: RecordedCopies,
    private readonly matching: Matching,
    private readonly triggering: Triggering,
    private readonly executions: ExecutionQueue,
    private readonly memory: ReplayMemory,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Holds the memory of the record during `work`. DomainError: `conflict` (there is too much, or this process does not
   * have the configuration), `unavailable`.
   */
  async with<T>(
    { original, mode, changes, correlationId }: RecordedRequest,
    work: (prepared: PreparedReplay) => Promise<T>,
  ): Promise<T> {
    const bytes = await findRecordedBytes(this.unitOfWork.reader, original.id);
    return this.memory.during(original.id, COPIES * bytes, async () => {
      const record = await this.records.read(original);
      const answered = new AnsweredWork(record, await this.records.currentAgents(original, mode, changes));
      const again: DecidedAgain[] = [];
      for (const row of record.artifacts)
        if (answered.artifacts.has(row.seq))
          again.push({ row, triggered: await this.decide(row, correlationId, answered) });
      const owner = { id: correlationId, isReplay: true };
      return work({
        lockKeys: again.flatMap(({ triggered }) => this.triggering.lockKeys(triggered, owner)),
        store: (tx, changes, correlation) => this.store(tx, changes, correlation, { record, answered, again }),
      });
    });
  }

  /** The subscriptions that the artifact triggers now, of those that decide again. */
  private async decide(row: ArtifactRow, correlationId: string, answered: AnsweredWork): Promise<Triggered[]> {
    const again = this.catalog.subscriptionsTo(row.type).filter((each) => answered.decidesAgain(row, each));
    if (again.length === 0) return [];
    // Joins by correlation are joins of the replay.
    const artifact = { ...artifactFromRow(row), correlation_id: correlationId };
    // It is as visible as it was when the original ended.
    const triggered = await this.matching.triggered({
      artifact,
      visibility: artifact.visibility,
      createdAt: row.created_at,
    });
    return triggered.filter(({ subscription }) => again.includes(subscription));
  }

  private async store(
    tx: Transaction,
    changes: CorrelationChanges,
    correlation: TrackedCorrelation,
    { record, answered, again }: { record: CorrelationRecord; answered: AnsweredWork; again: readonly DecidedAgain[] },
  ): Promise<void> {
    const positions = await this.copies.write(tx, changes, correlation, record, answered);
    for (const run of answered.runs) {
      const subscription = this.catalog.agent(run.agent)!.subscriptions[run.subscription]!;
      const inputs = record.inputs.get(run.id)!.map(({ artifact_seq }) => positions.get(artifact_seq) ?? artifact_seq);
      await this.executions.add(tx, changes, { subscription, correlation, inputs, direct: run.direct === 1 });
    }
    for (const { row, triggered } of again)
      await this.triggering.start(
        tx,
        changes,
        { seq: positions.get(row.seq)!, id: row.id, type: row.type },
        correlation,
        // It cancels nothing: the work that runs again begins now, and not when the artifact was published.
        { ...NO_REACTIONS, triggered },
      );
  }
}
