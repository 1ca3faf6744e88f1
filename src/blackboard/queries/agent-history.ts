import { Injectable } from '@nestjs/common';

import { startOfHour } from '../../common/time-steps.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { ActivityTotals, type HourOfActivity } from './activity-totals.repository.js';
import { type ArtifactFilter, asksForNothing } from './artifact-filter.js';
import { type Route, routesOf, spanOf } from './artifact-paths.js';
import { countConsumed, countProduced, type Involved } from './execution-artifact-rows.js';
import { narrowest } from './narrowest-route.js';
import { windows } from './path-rows.js';
import { PositionSet } from './position-set.js';

const WINDOW = 2_000;

/** The activity of an agent, hour by hour. */
@Injectable()
export class AgentHistory {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly activity: ActivityTotals,
  ) {}

  /**
   * Counts, per hour and sorted by hour, the ended executions that consumed or produced an artifact which matches the
   * filter, and those artifacts.
   */
  async hoursOf(agent: string, filter: ArtifactFilter): Promise<HourOfActivity[]> {
    if (asksForNothing(filter)) return this.activity.hoursOf(agent);
    const hours = new Hours();
    for await (const involved of this.consumed(agent, filter)) hours.add(involved, 'artifacts_consumed');
    for await (const involved of this.produced(agent, filter)) hours.add(involved, 'artifacts_produced');
    return hours.inOrder();
  }

  /** Model usage of the agent over its whole history. */
  usageOf(agent: string): ReturnType<ActivityTotals['usageOf']> {
    return this.activity.usageOf(agent);
  }

  private async *consumed(agent: string, filter: ArtifactFilter): AsyncGenerator<Involved[]> {
    const { reader } = this.unitOfWork;
    const byConsumer: Route = { paths: [{ by: 'consumer', value: agent }], rest: filter };
    const { paths, rest } = await narrowest(reader, [...routesOf(filter), byConsumer]);
    for (const path of paths) {
      for await (const window of windows(reader, path, spanOf(path), WINDOW)) {
        yield await countConsumed(reader, path, window, rest, agent);
      }
    }
  }

  private async *produced(agent: string, filter: ArtifactFilter): AsyncGenerator<Involved[]> {
    if (filter.producers.length > 0 && !filter.producers.includes(agent)) return;
    const { reader } = this.unitOfWork;
    const { paths, rest } = await narrowest(reader, routesOf({ ...filter, producers: [agent] }));
    for (const path of paths) {
      for await (const window of windows(reader, path, spanOf(path), WINDOW)) {
        yield await countProduced(reader, path, window, rest);
      }
    }
  }
}

/** Adds up hours. An execution counts once, in the hour in which it ended. */
class Hours {
  private readonly byStart = new Map<number, HourOfActivity>();
  private readonly counted = new PositionSet();

  add(involved: readonly Involved[], column: 'artifacts_consumed' | 'artifacts_produced'): void {
    for (const { seq, state, ended_at, artifacts } of involved) {
      // The execution failed and is being retried.
      if (ended_at === null) continue;
      const hour = this.hour(startOfHour(ended_at));
      hour[column] += artifacts;
      if (!this.counted.add(seq)) continue;
      hour.executions += 1;
      if (state === 'failed') hour.failures += 1;
    }
  }

  inOrder(): HourOfActivity[] {
    return [...this.byStart.values()].sort((a, b) => a.hour - b.hour);
  }

  private hour(start: number): HourOfActivity {
    let hour = this.byStart.get(start);
    if (!hour) {
      hour = { hour: start, executions: 0, failures: 0, artifacts_consumed: 0, artifacts_produced: 0 };
      this.byStart.set(start, hour);
    }
    return hour;
  }
}
