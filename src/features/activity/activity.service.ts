import { Injectable } from '@nestjs/common';

import { ActivityCounts } from '../../blackboard/queries/activity-counts.repository.js';
import { ActivitySince } from '../../blackboard/queries/activity-since.repository.js';
import { ActivityTotals } from '../../blackboard/queries/activity-totals.repository.js';
import { Catalog } from '../../catalog/catalog.js';
import { unknownAgent } from '../../catalog/unknown-names.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { startOfHour, startOfStep } from '../../common/time-steps.js';
import { toTimestamp } from '../../common/timestamp.js';
import { ActivitySeries } from './activity-series.js';
import type { ActivityBody } from './dto/activity-body.js';
import { type ActivityQuery, FINEST, type StepName, STEPS, WINDOWS } from './dto/activity-query.js';

/** Counts what agents do in the steps of a window. */
@Injectable()
export class ActivityService {
  constructor(
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly counts: ActivityCounts,
    private readonly since: ActivitySince,
    private readonly totals: ActivityTotals,
  ) {}

  /** Throws DomainError `invalid` (a step that the window cannot have) and `not_found`. */
  async read(query: ActivityQuery): Promise<ActivityBody> {
    const { window, agent = null } = query;
    const step = stepOf(query);
    const stepMs = STEPS[step];
    if (agent !== null && !this.catalog.agent(agent)) throw unknownAgent(agent, this.catalog.agents);
    const since = await this.since.get();
    const now = this.clock.now();
    const from = startOfStep(Math.max(now - WINDOWS[window], Math.min(since, now)), stepMs);
    const found = await this.counts.find({ from, stepMs, agent });

    const starts = Array.from({ length: (startOfStep(now, stepMs) - from) / stepMs + 1 }, (_, n) => from + n * stepMs);
    const total = new ActivitySeries(starts);
    const byAgent = new Map<string, ActivitySeries>();
    const seriesOf = (name: string): ActivitySeries => {
      if (!byAgent.has(name)) byAgent.set(name, new ActivitySeries(starts));
      return byAgent.get(name)!;
    };
    for (const counts of found) {
      total.add(counts);
      seriesOf(counts.agent).add(counts);
    }
    const names = agent === null ? this.catalog.agents.map(({ name }) => name) : [agent];
    const all = [...new Set([...names, ...byAgent.keys()])];
    for (const used of all.length > 0 ? await this.totals.usageSince(startOfHour(from), all) : []) {
      total.addUsage(used);
      seriesOf(used.agent).addUsage(used);
    }
    return {
      window,
      step,
      since: toTimestamp(since),
      from: toTimestamp(from),
      to: toTimestamp(now),
      total: total.body(),
      agents: [...byAgent].sort(byName).map(([name, series]) => ({ agent: name, ...series.body() })),
    };
  }
}

const byName = ([one]: [string, unknown], [other]: [string, unknown]): number => (one < other ? -1 : 1);

function stepOf({ window, step, agent }: ActivityQuery): StepName {
  const { ofAll, ofOne } = FINEST[window];
  if (step === undefined) return ofAll;
  const refuse = (problem: string): DomainError => new DomainError('invalid', `step: must be ${problem}`);
  if (STEPS[step] >= WINDOWS[window]) throw refuse(`shorter than the window of ${window}`);
  if (STEPS[step] < STEPS[ofOne]) throw refuse(`at least ${ofOne} in a window of ${window}`);
  if (agent === undefined && STEPS[step] < STEPS[ofAll])
    throw refuse(`at least ${ofAll} in a window of ${window}, unless agent names one agent`);
  return step;
}
