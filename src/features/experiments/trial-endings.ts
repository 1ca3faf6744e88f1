import { hash } from 'node:crypto';

import { Injectable } from '@nestjs/common';

import type { SchedulerLock } from '../../blackboard/processes/scheduler-locks.repository.js';
import { isUnavailable } from '../../common/domain-error.js';
import { canonicalJson, type JsonValue } from '../../common/json.js';
import { shown } from '../../common/short-text.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { Definition } from './definition.js';
import type { DataRow } from './experiment-rows.repository.js';
import { cut, isOpen } from './score.js';
import { Scoring, type Spent } from './scoring.js';
import { TrialArtifactsRepository } from './trial-artifacts.repository.js';
import { type Contents, TrialContents } from './trial-contents.js';
import type { OpenTrial, TrialResult } from './trials.repository.js';

const NONE_FAILED = 'no agent failed; check that output names a type that follows from the row';

/** Characters of a value's JSON in lists. */
export const MOST_SHOWN = 1_000;

/** A trial whose correlation has ended. */
export interface EndedTrial {
  result: TrialResult;
  /** Lists show these two for its row. */
  input: string | null;
  expected: string | null;
}

/** Reads and scores what came out of trials. */
@Injectable()
export class TrialEndings {
  constructor(
    private readonly contents: TrialContents,
    private readonly scoring: Scoring,
    private readonly artifacts: TrialArtifactsRepository,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Returns null if the service has no room for it now. */
  async of(definition: Definition, row: DataRow, trial: OpenTrial, lock: SchedulerLock): Promise<EndedTrial | null> {
    const place = { definition, row, correlationId: trial.correlation_id };
    try {
      return await this.contents.with(place, (contents) => this.scored(definition, trial, contents, lock));
    } catch (error) {
      if (isUnavailable(error)) return null;
      throw error;
    }
  }

  private async scored(
    definition: Definition,
    trial: OpenTrial,
    contents: Contents,
    lock: SchedulerLock,
  ): Promise<EndedTrial> {
    const spent = spentOf(trial);
    const scores = await this.scoring.of(definition, contents, spent, lock);
    const { input, output, outputId, expected } = contents;
    return {
      input: excerptOf(input),
      expected: expected === undefined ? null : excerptOf(expected),
      result: {
        position: trial.position,
        variant: trial.variant,
        correlation_id: trial.correlation_id,
        state: scores.some(isOpen) ? 'judging' : 'ended',
        scores: JSON.stringify(scores),
        output_id: outputId,
        output_digest: outputId === null ? null : hash('sha256', canonicalJson(output)),
        output_shown: outputId === null ? null : excerptOf(output),
        error: outputId === null ? await this.reason(definition, trial) : null,
        ...spent,
      },
    };
  }

  private async reason({ output }: Definition, { correlation_id, correlation_state }: OpenTrial): Promise<string> {
    const failure = await this.artifacts.failure(this.unitOfWork.reader, correlation_id);
    const why = failure ?? (correlation_state === 'cancelled' ? 'it was cancelled' : NONE_FAILED);
    return cut(`no agent published an artifact of the type ${shown(output)}: ${why}`);
  }
}

/** The result of a trial that never began, or whose experiment was cancelled. */
export const unfinished = (trial: OpenTrial, error: string): TrialResult => ({
  position: trial.position,
  variant: trial.variant,
  correlation_id: trial.correlation_id,
  state: 'ended',
  scores: null,
  output_id: null,
  output_digest: null,
  output_shown: null,
  error: cut(error),
  ...spentOf(trial),
  duration_ms: null,
});

const spentOf = (trial: OpenTrial): Spent => ({
  duration_ms: trial.settled_at === null || trial.started_at === null ? null : trial.settled_at - trial.started_at,
  input_tokens: trial.used_input ?? 0,
  output_tokens: trial.used_output ?? 0,
  cost: trial.used_cost,
});

const excerptOf = (value: JsonValue): string => cut(JSON.stringify(value), MOST_SHOWN);
