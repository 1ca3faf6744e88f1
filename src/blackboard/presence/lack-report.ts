import { Inject, Injectable } from '@nestjs/common';

import { configurationName } from '../../catalog/replay-configuration.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { GroupsWithoutSubscription } from '../joins/groups-without-subscription.js';
import { ExecutionsWithoutAgent } from '../scheduling/executions-without-agent.js';
import { ExecutionsWithoutConfiguration } from '../scheduling/executions-without-configuration.js';

/** The maximum number of names in one line, so that its length does not depend on the contents of the database. */
const MOST_NAMED = 50;

/**
 * Logs which agents, and which configurations of replays, have waiting work but no process: once for each until a process
 * has it.
 */
@Injectable()
export class LackReport {
  private reportedAgents: ReadonlySet<string> = new Set();
  private reportedConfigurations: ReadonlySet<string> = new Set();

  constructor(
    private readonly executions: ExecutionsWithoutAgent,
    private readonly groups: GroupsWithoutSubscription,
    private readonly replays: ExecutionsWithoutConfiguration,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async report(): Promise<void> {
    await this.reportAgents();
    await this.reportConfigurations();
  }

  private async reportAgents(): Promise<void> {
    const executions = await this.executions.count();
    const groups = await this.groups.count();
    const lacking = new Set([...executions.keys(), ...groups.keys()]);
    const isNew = hasOthers(lacking, this.reportedAgents);
    this.reportedAgents = lacking;
    if (!isNew) return;
    const waiting = (agent: string) => ({ executions: executions.get(agent) ?? 0, groups: groups.get(agent) ?? 0 });
    this.logger.warn(
      named('agents', lacking, waiting),
      `work waits for agents or subscriptions that no worker has; start a worker with them, or end the work with POST /api/v1/executions/fail`,
    );
  }

  private async reportConfigurations(): Promise<void> {
    const counts = await this.replays.count();
    const lacking = new Set(counts.map(({ configuration }) => configuration));
    const isNew = hasOthers(lacking, this.reportedConfigurations);
    this.reportedConfigurations = lacking;
    if (!isNew) return;
    const byName = Map.groupBy(counts, ({ configuration }) => configurationName(configuration));
    const waiting = (name: string) => ({ executions: byName.get(name)!.reduce((sum, { count }) => sum + count, 0) });
    this.logger.warn(
      named('configurations', byName.keys(), waiting),
      `replays wait for configurations that no worker has as they were when the replays began; start a worker with them (setting replay_config), or cancel the replays and the experiments`,
    );
  }
}

const hasOthers = (names: ReadonlySet<string>, known: ReadonlySet<string>): boolean =>
  [...names].some((name) => !known.has(name));

/** The fields of a line that names these, the first ones in alphabetical order. */
function named(what: string, names: Iterable<string>, waiting: (name: string) => object): Record<string, unknown> {
  const sorted = [...names].sort();
  return {
    [what]: Object.fromEntries(sorted.slice(0, MOST_NAMED).map((name) => [name, waiting(name)])),
    ...(sorted.length > MOST_NAMED && { [`further_${what}`]: sorted.length - MOST_NAMED }),
  };
}
