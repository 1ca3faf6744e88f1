import { Injectable } from '@nestjs/common';

import { findState, type ReplayColumns } from '../../blackboard/correlations/correlation-rows.js';
import { replayOptionsText } from '../../blackboard/correlations/replay-options.js';
import { Processes } from '../../blackboard/processes/processes.js';
import type { SchedulerLock } from '../../blackboard/processes/scheduler-locks.repository.js';
import { Admission } from '../../blackboard/publishing/admission.js';
import { type Invocation, Invocations } from '../../blackboard/publishing/invocations.js';
import { Originals } from '../../blackboard/replays/originals.js';
import { Replays } from '../../blackboard/replays/replays.js';
import { Catalog } from '../../catalog/catalog.js';
import { NO_CHANGES } from '../../catalog/overrides.js';
import { configurationKey } from '../../catalog/replay-configuration.js';
import { DomainError, isUnavailable } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import type { JsonObject } from '../../common/json.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import type { ReplayMode } from '../../database/schema.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { changesOf, type Definition, type Variant } from './definition.js';
import type { DataRow } from './experiment-rows.repository.js';

export interface TrialPlan {
  experimentId: string;
  definition: Definition;
  row: DataRow;
  variant: Variant;
  /** Stored before, so that a trial that begins again after a crash is the same one. */
  correlationId: string;
}

/** `later`: the service has no room for it now. A text says why it can never begin. */
export type Begun = 'begun' | 'later' | { problem: string };

/** `elsewhere`: in other live processes, which have its configuration. `nowhere`: no live process has it, so trials wait. */
export type Place = 'here' | 'elsewhere' | 'nowhere';

/** Begins the correlations of trials and of judges. They are replays, so that they are kept apart from live work. */
@Injectable()
export class TrialStarts {
  constructor(
    private readonly catalog: Catalog,
    private readonly admission: Admission,
    private readonly originals: Originals,
    private readonly replays: Replays,
    private readonly invocations: Invocations,
    private readonly memory: MemoryBudget,
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Returns where trials of the variant can begin. */
  async placeOf(definition: Definition, variant: Variant): Promise<Place> {
    const { configuration } = changesOf(definition, variant);
    if (configuration === null || this.catalog.canReplay(configuration)) return 'here';
    const known = await this.processes.known();
    return known.hasConfiguration(configurationKey(configuration)) ? 'elsewhere' : 'nowhere';
  }

  /** Does nothing if the trial has begun. Call this only if it can begin here. */
  begin(plan: TrialPlan, lock: SchedulerLock): Promise<Begun> {
    const { row, correlationId } = plan;
    return this.once(correlationId, () =>
      row.inputs === null ? this.replay(plan, lock) : this.run(plan, row.inputs, lock),
    );
  }

  /** Begins the correlation `id`, in which an agent judges a trial of `row`. `origin`: the correlation of the trial. */
  judge(
    agent: string,
    judged: { type: string; payload: JsonObject },
    {
      origin,
      id,
      mode,
      row,
      lock,
    }: { origin: string; id: string; mode: ReplayMode; row: DataRow; lock: SchedulerLock },
  ): Promise<Begun> {
    // With `full`, webhooks would be sent.
    const replay_mode = mode === 'shadow' ? mode : 'recorded';
    const options = replayOptionsText(NO_CHANGES, { origin: 'correlation', variantsFrom: variantsOf(row) });
    const replay: ReplayColumns = { origin, replay_mode, replay_options: options };
    return this.once(id, async () => {
      await this.invoke(this.invocations.prepareDirect(agent, [judged], id, { background: true, replay }), lock);
    });
  }

  private async once(correlationId: string, begin: () => Promise<void>): Promise<Begun> {
    if (await this.exists(correlationId)) return 'begun';
    try {
      await this.admission.refuseWhenBusy();
      await begin();
      return 'begun';
    } catch (error) {
      if (isUnavailable(error)) return 'later';
      if (!(error instanceof DomainError)) throw error;
      // Another process may have begun it, if this one was held up for long.
      return (await this.exists(correlationId)) ? 'begun' : { problem: error.message };
    }
  }

  private async replay({ definition, row, variant, correlationId }: TrialPlan, lock: SchedulerLock): Promise<void> {
    const { mode } = definition;
    const origin = row.origin!;
    const original =
      row.origin_kind === 'artifact'
        ? await this.originals.ofArtifact(origin)
        : await this.originals.ofCorrelation(origin);
    await this.replays.begin({
      original,
      mode,
      changes: changesOf(definition, variant),
      correlationId,
      inTransaction: (tx) => holding(tx, lock),
    });
  }

  /** Nothing is recorded for a row of a CSV, so all its agents run. */
  private async run(
    { experimentId, definition, row, variant, correlationId }: TrialPlan,
    inputs: string,
    lock: SchedulerLock,
  ): Promise<void> {
    const { data, mode } = definition;
    const changes = changesOf(definition, variant);
    const agent = variant.agent ?? (data.kind === 'csv' ? data.agent : '');
    const replay: ReplayColumns = {
      origin: experimentId,
      replay_mode: mode,
      replay_options: replayOptionsText(changes, { origin: 'experiment', variantsFrom: variantsOf(row) }),
    };
    const how = { firstId: newId(), background: true, replay };
    await this.invoke(this.invocations.prepareRun(agent, JSON.parse(inputs) as JsonObject, correlationId, how), lock);
  }

  private async invoke(invocation: Invocation, lock: SchedulerLock): Promise<void> {
    await this.memory.during(invocation.grownBytes, () =>
      this.unitOfWork.run(async (tx) => {
        await this.invocations.begin(tx, invocation);
        await holding(tx, lock);
      }),
    );
  }

  private async exists(correlationId: string): Promise<boolean> {
    return (await findState(this.unitOfWork.reader, { correlationId })).length > 0;
  }
}

/**
 * The process that has the lock ends the trials of a cancelled experiment. It would not see what another one begins
 * meanwhile, which then would run for nothing. DomainError `unavailable` if another process has the lock.
 */
async function holding(tx: Transaction, lock: SchedulerLock): Promise<void> {
  if (!(await lock.renew(tx))) throw new DomainError('unavailable', 'Another process continues the experiments');
}

/**
 * Decides on the variants of agents as the id of a correlation does. All trials of a row and their judges have the same
 * ones, so that they differ only in what the experiment varies; other rows have others.
 */
const variantsOf = ({ experiment_seq, position }: DataRow): string => JSON.stringify([experiment_seq, position]);
