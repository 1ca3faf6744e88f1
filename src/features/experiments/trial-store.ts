import { Injectable } from '@nestjs/common';

import type { SchedulerLock } from '../../blackboard/processes/scheduler-locks.repository.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { goesOn, usedUp } from './experiment.js';
import { ExperimentRowsRepository } from './experiment-rows.repository.js';
import { type Ended, type Experiment, ExperimentsRepository } from './experiments.repository.js';
import type { EndedTrial } from './trial-endings.js';
import { type NewTrial, type TrialResult, TrialsRepository } from './trials.repository.js';

/** A change of a trial, and what lists show of its row if that is known now. */
export interface SavedTrial extends Partial<Pick<EndedTrial, 'input' | 'expected'>> {
  result: TrialChange;
  /** The model usage of its judges. */
  judges?: Pick<Ended, 'inputTokens' | 'outputTokens' | 'cost'>;
}

export type TrialChange = Pick<TrialResult, 'position' | 'variant' | 'state'> & Partial<TrialResult>;

/** Stores trials together with the counts of their experiment, so that both agree after a crash. */
@Injectable()
export class TrialStore {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly experiments: ExperimentsRepository,
    private readonly rows: ExperimentRowsRepository,
    private readonly trials: TrialsRepository,
  ) {}

  /** Stores trials that will begin. Returns false if another process has the lock, or if the experiment runs no more. */
  start(lock: SchedulerLock, { seq, next_trial }: Experiment, trials: readonly NewTrial[]): Promise<boolean> {
    return this.unitOfWork.run(async (tx) => {
      const held = await this.held(tx, lock, seq);
      if (!held || !goesOn(held) || held.next_trial !== next_trial) return false;
      // Trials that ended in the same step may have used up the budget.
      if (usedUp(held) !== null) return false;
      await this.trials.insert(tx, seq, trials);
      await this.experiments.countStarted(tx, seq, trials.length);
      return true;
    });
  }

  /**
   * Stores what has become of the trials that `work` returns. It does what belongs to the same transaction. A trial that
   * had ended is not counted again. Returns false if another process has the lock, or if the experiment was cancelled: its
   * summary has the trials that had ended then.
   */
  save(
    lock: SchedulerLock,
    experiment: Experiment,
    work: (tx: Transaction) => Promise<readonly SavedTrial[]>,
  ): Promise<boolean> {
    return this.saveIf(goesOn, lock, experiment, work);
  }

  /** Like `save`, for an experiment that was cancelled. */
  abandon(
    lock: SchedulerLock,
    experiment: Experiment,
    work: (tx: Transaction) => Promise<readonly SavedTrial[]>,
  ): Promise<boolean> {
    return this.saveIf(({ state }) => state !== 'running', lock, experiment, work);
  }

  private saveIf(
    mayChange: (experiment: Experiment) => boolean,
    lock: SchedulerLock,
    { seq }: Experiment,
    work: (tx: Transaction) => Promise<readonly SavedTrial[]>,
  ): Promise<boolean> {
    return this.unitOfWork.run(async (tx) => {
      // Correlations are locked before experiments.
      const trials = await work(tx);
      const held = await this.held(tx, lock, seq);
      if (!held || !mayChange(held)) return false;
      const ended: Ended = { trials: 0, failed: 0, inputTokens: 0, outputTokens: 0, cost: null };
      for (const trial of trials) await this.saveOne(tx, seq, trial, ended);
      if (ended.trials > 0) await this.experiments.countEnded(tx, seq, ended);
      return true;
    });
  }

  private async held(tx: Transaction, lock: SchedulerLock, seq: number): Promise<Experiment | undefined> {
    return (await lock.renew(tx)) ? this.experiments.hold(tx, seq) : undefined;
  }

  private async saveOne(
    tx: Transaction,
    seq: number,
    { result, input, expected, judges }: SavedTrial,
    ended: Ended,
  ): Promise<void> {
    if (!(await this.trials.save(tx, seq, result))) return;
    const { position, state, error = null } = result;
    if (input !== undefined) await this.rows.show(tx, { seq, position, input, expected: expected ?? null });
    if (state !== 'ended') return;
    ended.trials += 1;
    if (error !== null) ended.failed += 1;
    addUsage(ended, result.input_tokens ?? 0, result.output_tokens ?? 0, result.cost ?? null);
    if (judges) addUsage(ended, judges.inputTokens, judges.outputTokens, judges.cost);
  }
}

function addUsage(ended: Ended, input: number, output: number, cost: number | null): void {
  ended.inputTokens += input;
  ended.outputTokens += output;
  if (cost !== null) ended.cost = (ended.cost ?? 0) + cost;
}
