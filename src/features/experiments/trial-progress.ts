import { Injectable } from '@nestjs/common';

import { Cancellation } from '../../blackboard/execution/cancellation.js';
import type { SchedulerLock } from '../../blackboard/processes/scheduler-locks.repository.js';
import { isUnavailable } from '../../common/domain-error.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { Definition } from './definition.js';
import type { DataRow } from './experiment-rows.repository.js';
import type { Experiment } from './experiments.repository.js';
import { Judges, judgesIn, usageOf } from './judges.js';
import { failedScore, isOpen, type Score } from './score.js';
import { StoredDefinitions } from './stored-definitions.js';
import { TrialArtifactsRepository, type UsedCorrelation } from './trial-artifacts.repository.js';
import { TrialEndings, unfinished } from './trial-endings.js';
import { TrialFailures } from './trial-failures.js';
import { type Place, TrialStarts } from './trial-starts.js';
import { type SavedTrial, type TrialChange, TrialStore } from './trial-store.js';
import type { OpenTrial } from './trials.repository.js';

/** The open trials of one experiment that this process may be able to continue. */
export interface ReadyTrials {
  trials: OpenTrial[];
  /** Whether there are others, which another live process can begin. */
  areLeft: boolean;
}

/** Some open trials of one experiment. */
export interface OpenTrials {
  experiment: Experiment;
  trials: readonly OpenTrial[];
  rows: ReadonlyMap<number, DataRow>;
}

/** Trials in one step, so that experiments take turns and transactions are short. */
export const AT_ONCE = 20;

const INTERNAL_ERROR = "an internal error stopped the trial; see the service's log";

type Work = OpenTrials & { definition: Definition; lock: SchedulerLock };

/** Continues trials: begins them, scores them when they have ended, and lets judges judge them. */
@Injectable()
export class TrialProgress {
  constructor(
    private readonly starts: TrialStarts,
    private readonly endings: TrialEndings,
    private readonly judges: Judges,
    private readonly store: TrialStore,
    private readonly cancellation: Cancellation,
    private readonly artifacts: TrialArtifactsRepository,
    private readonly definitions: StoredDefinitions,
    private readonly failures: TrialFailures,
  ) {}

  /**
   * Trials whose correlation can begin here, can never begin or has ended, and all whose judges may have ended: some judges
   * may take long, and must not hold up the others. Trials that only other processes can begin must not hold them up either.
   */
  async ready(experiment: Experiment, open: readonly OpenTrial[]): Promise<ReadyTrials> {
    const { judging = [], running = [] } = Object.groupBy(open, ({ state }) => state);
    const { begin = [], end = [] } = Object.groupBy(
      running.filter(({ correlation_state }) => correlation_state !== 'active'),
      ({ correlation_state }) => (correlation_state === null ? 'begin' : 'end'),
    );
    const { broken = [], whole = [] } = Object.groupBy(begin, ({ problem }) => (problem === null ? 'whole' : 'broken'));
    const places = await this.placesOf(experiment, whole);
    const here = whole.filter(({ variant }) => places.get(variant) === 'here');
    return {
      trials: [...[...end, ...broken, ...here].slice(0, AT_ONCE), ...judging],
      areLeft: [...places.values()].includes('elsewhere'),
    };
  }

  /** Returns where trials of each of their variants can begin. */
  private async placesOf(experiment: Experiment, trials: readonly OpenTrial[]): Promise<ReadonlyMap<number, Place>> {
    const places = new Map<number, Place>();
    if (trials.length === 0) return places;
    const definition = await this.definitions.of(experiment);
    for (const variant of new Set(trials.map((trial) => trial.variant)))
      places.set(variant, await this.starts.placeOf(definition, definition.variants[variant]!));
    return places;
  }

  /** Returns false if nothing could be done. */
  async continue(lock: SchedulerLock, open: OpenTrials): Promise<boolean> {
    const work = { ...open, definition: await this.definitions.of(open.experiment), lock };
    const saved: SavedTrial[] = [];
    const failed: OpenTrial[] = [];
    let hasMoved = false;
    for (const trial of open.trials) {
      if (!(await lock.keep())) return false;
      const next = await this.tryNext(work, trial);
      if (next === 'begun') hasMoved = true;
      else if (next === 'failed') failed.push(trial);
      else if (next !== null) saved.push(next);
      await yieldToEventLoop();
    }
    if (saved.length + failed.length === 0) return hasMoved;
    const save = async (tx: Transaction) => [...saved, ...(await this.stopped(tx, failed, INTERNAL_ERROR))];
    return (await this.store.save(lock, open.experiment, save)) || hasMoved;
  }

  /** Ends trials of an experiment that was cancelled. */
  async abandon(lock: SchedulerLock, experiment: Experiment, open: readonly OpenTrial[]): Promise<boolean> {
    if (open.length === 0) return false;
    const reason = `the experiment was ${experiment.state}`;
    return this.store.abandon(lock, experiment, (tx) => this.stopped(tx, open, reason));
  }

  /** Cancels the correlations of trials, and returns how these end. */
  private async stopped(tx: Transaction, trials: readonly OpenTrial[], reason: string): Promise<SavedTrial[]> {
    if (trials.length === 0) return [];
    const ids = trials.flatMap(({ correlation_id, scores }) => [correlation_id, ...judgesIn(scores)]);
    const begun = (await this.artifacts.begun(tx.db, ids)).map(({ id }) => id);
    if (begun.length > 0) await this.cancellation.cancelOpen(tx, begun);
    // The end of running model calls counts what they may have used.
    const used = new Map((await this.artifacts.begun(tx.db, begun)).map((each) => [each.id, each]));
    return trials.map((trial) => stoppedTrial(trial, reason, used));
  }

  /** `failed`: the trial has failed so often that it must not be tried again. */
  private async tryNext(work: Work, trial: OpenTrial): Promise<SavedTrial | 'begun' | 'failed' | null> {
    const { correlation_id: id } = trial;
    if (this.failures.pauses(id)) return null;
    try {
      const next = await this.next(work, trial);
      this.failures.forget(id);
      return next;
    } catch (error) {
      if (isUnavailable(error)) return null;
      return this.failures.add(error, { experiment: work.experiment.id, id }) ? 'failed' : null;
    }
  }

  private next(work: Work, trial: OpenTrial): Promise<SavedTrial | 'begun' | null> {
    if (trial.state === 'judging') return this.judged(work, trial);
    return trial.correlation_state === null ? this.begun(work, trial) : this.ended(work, trial);
  }

  private async begun(work: Work, trial: OpenTrial): Promise<SavedTrial | 'begun' | null> {
    if (trial.problem !== null) return { result: unfinished(trial, trial.problem) };
    const { experiment, definition, rows, lock } = work;
    const plan = {
      experimentId: experiment.id,
      definition,
      row: rows.get(trial.position)!,
      variant: definition.variants[trial.variant]!,
      correlationId: trial.correlation_id,
    };
    const begun = await this.starts.begin(plan, lock);
    if (begun === 'later') return null;
    return begun === 'begun' ? begun : { result: unfinished(trial, begun.problem) };
  }

  private async ended({ definition, rows, lock }: Work, trial: OpenTrial): Promise<SavedTrial | null> {
    return this.endings.of(definition, rows.get(trial.position)!, trial, lock);
  }

  private async judged({ definition, rows, lock }: Work, trial: OpenTrial): Promise<SavedTrial | null> {
    const { scores, hasMoved, usage } = await this.judges.of(definition, rows.get(trial.position)!, trial, lock);
    if (!hasMoved) return null;
    const result = withScores(trial, scores);
    return { result, judges: usage };
  }
}

/** A trial whose correlations are cancelled, with what these have used. */
function stoppedTrial(trial: OpenTrial, reason: string, used: ReadonlyMap<string, UsedCorrelation>): SavedTrial {
  if (trial.state === 'judging')
    return {
      result: unjudged(trial, reason),
      judges: usageOf(judgesIn(trial.scores).flatMap((id) => used.get(id) ?? [])),
    };
  const {
    input_tokens: used_input = null,
    output_tokens: used_output = null,
    cost: used_cost = null,
  } = used.get(trial.correlation_id) ?? {};
  return { result: unfinished({ ...trial, used_input, used_output, used_cost }, reason) };
}

/** Keeps everything but the scores of judges that have not answered. */
function unjudged(trial: OpenTrial, reason: string): TrialChange {
  const scores = JSON.parse(trial.scores!) as Score[];
  return withScores(
    trial,
    scores.map((score) => (isOpen(score) ? { ...score, ...failedScore(reason) } : score)),
  );
}

const withScores = (trial: OpenTrial, scores: readonly Score[]): TrialChange => ({
  position: trial.position,
  variant: trial.variant,
  state: scores.some(isOpen) ? 'judging' : 'ended',
  scores: JSON.stringify(scores),
  input_tokens: trial.input_tokens,
  output_tokens: trial.output_tokens,
  cost: trial.cost,
});
