import { Injectable } from '@nestjs/common';

import { Processes } from '../../blackboard/processes/processes.js';
import type { SchedulerLock } from '../../blackboard/processes/scheduler-locks.repository.js';
import { Catalog } from '../../catalog/catalog.js';
import { isUnavailable } from '../../common/domain-error.js';
import type { JsonValue } from '../../common/json.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { Definition, Scorer } from './definition.js';
import type { DataRow } from './experiment-rows.repository.js';
import type { Ended } from './experiments.repository.js';
import { valueAt } from './json-pointer.js';
import { cut, failedScore, isOpen, type Score, scoreOf } from './score.js';
import { TrialArtifactsRepository, type UsedCorrelation } from './trial-artifacts.repository.js';
import { TrialContents } from './trial-contents.js';
import { TrialStarts } from './trial-starts.js';
import type { OpenTrial } from './trials.repository.js';

const SCORE = '/score';
const REASON = '/reason';

export type JudgesUsage = Pick<Ended, 'inputTokens' | 'outputTokens' | 'cost'>;

interface JudgedTrial {
  definition: Definition;
  row: DataRow;
  trial: OpenTrial;
  lock: SchedulerLock;
}

/** The scores of a trial when its judges were looked at. */
export interface Judged {
  scores: Score[];
  /** Whether one of them has begun or answered since. */
  hasMoved: boolean;
  usage: JudgesUsage;
}

/**
 * Agents that judge outputs. Each works on one artifact with input, output and expected value, in a separate
 * correlation; what it publishes has the score and the reason.
 */
@Injectable()
export class Judges {
  constructor(
    private readonly catalog: Catalog,
    private readonly contents: TrialContents,
    private readonly artifacts: TrialArtifactsRepository,
    private readonly starts: TrialStarts,
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Begins the judges of a trial that have not begun, and reads the answers of those that have ended. */
  async of(definition: Definition, row: DataRow, trial: OpenTrial, lock: SchedulerLock): Promise<Judged> {
    const scores = JSON.parse(trial.scores!) as Score[];
    const found = await this.artifacts.begun(this.unitOfWork.reader, judgesIn(trial.scores));
    const judged: Judged = { scores, hasMoved: false, usage: usageOf(found) };
    for (const [index, score] of scores.entries()) {
      if (!isOpen(score)) continue;
      const scorer = definition.scorers[index]!;
      const correlation = found.find(({ id }) => id === score.judged_in);
      if (!correlation) await this.begin(judged, index, { definition, scorer, row, trial, lock });
      else if (correlation.state !== 'active') {
        judged.scores[index] = await this.answer(scorer, correlation);
        judged.hasMoved = true;
      }
    }
    return judged;
  }

  private async begin(
    judged: Judged,
    index: number,
    { scorer, ...work }: JudgedTrial & { scorer: Scorer },
  ): Promise<void> {
    const agent = this.catalog.agent(scorer.agent!);
    // While a new configuration is rolled out, another process may have the judge. It begins it when it has the lock.
    if (!agent && (await this.processes.known()).hasAgent(scorer.agent!)) return;
    const type = agent?.subscriptions.find(({ types }) => types.length === 1)?.types[0];
    if (type === undefined) {
      // The configuration has changed since the experiment began. To wait for the agent could take forever.
      judged.scores[index] = failedScore(`the configuration has no agent ${scorer.agent!} that consumes a single type`);
      judged.hasMoved = true;
      return;
    }
    const id = judged.scores[index]!.judged_in!;
    const begun = await this.asked(work, { agent: scorer.agent!, type, id });
    if (begun === 'later') return;
    judged.hasMoved = true;
    if (begun !== 'begun') judged.scores[index] = failedScore(begun.problem);
  }

  private async asked(
    { definition, row, trial, lock }: JudgedTrial,
    judge: { agent: string; type: string; id: string },
  ) {
    const place = { definition, row, correlationId: trial.correlation_id };
    try {
      return await this.contents.with(place, ({ input, output, expected = null }) =>
        this.starts.judge(
          judge.agent,
          { type: judge.type, payload: { input, output, expected } },
          { origin: trial.correlation_id, id: judge.id, mode: definition.mode, row, lock },
        ),
      );
    } catch (error) {
      if (isUnavailable(error)) return 'later' as const;
      throw error;
    }
  }

  private async answer({ agent, path = SCORE }: Scorer, correlation: UsedCorrelation): Promise<Score> {
    const { reader } = this.unitOfWork;
    const published = await this.artifacts.published(reader, correlation.id, agent!);
    if (!published) {
      const failure = await this.artifacts.failure(reader, correlation.id);
      return { ...failedScore(failure ?? `${agent!} published nothing`), judged_in: correlation.id };
    }
    const payload = JSON.parse(published.payload) as JsonValue;
    const reason = valueAt(payload, REASON);
    return {
      ...scoreOf(valueAt(payload, path)),
      ...(typeof reason === 'string' && { reason: cut(reason) }),
      artifact_id: published.id,
      judged_in: correlation.id,
    };
  }
}

function addUsage(usage: JudgesUsage, { input_tokens, output_tokens, cost }: UsedCorrelation): void {
  usage.inputTokens += input_tokens;
  usage.outputTokens += output_tokens;
  if (cost !== null) usage.cost = (usage.cost ?? 0) + cost;
}

/** Adds up what judges have used. */
export function usageOf(correlations: readonly UsedCorrelation[]): JudgesUsage {
  const usage: JudgesUsage = { inputTokens: 0, outputTokens: 0, cost: null };
  for (const correlation of correlations) addUsage(usage, correlation);
  return usage;
}

/** The correlations in which judges of a trial with these scores work. */
export const judgesIn = (scores: string | null): string[] =>
  scores === null ? [] : (JSON.parse(scores) as Score[]).flatMap(({ judged_in }) => judged_in ?? []);
