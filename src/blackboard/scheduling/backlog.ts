import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { configurationName } from '../../catalog/replay-configuration.js';
import { DomainError } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { listed } from '../../common/names-in-messages.js';
import { Settings } from '../../config/settings.js';
import { type Reader, type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Processes } from '../processes/processes.js';
import { ExecutionsWithoutAgent } from './executions-without-agent.js';
import { ExecutionsWithoutConfiguration } from './executions-without-configuration.js';
import { KeptCount } from './kept-count.js';
import { type ConfigurationCount, countWaitingExecutions } from './waiting-rows.js';

const RETRY_AFTER_SECONDS = 5;
const RECOUNT_MS = 1_000;

/**
 * Counts waiting executions. Executions of agents that no process has are counted separately and have a separate limit,
 * so that they do not use up the limit of the others. So are executions of replays whose configuration no process has: they
 * refuse only further replays with such a configuration.
 */
@Injectable()
export class Backlog {
  private readonly waiting: KeptCount;
  private withoutAgent: ReadonlyMap<string, number> = new Map();
  private withoutConfiguration: readonly ConfigurationCount[] = [];

  constructor(
    private readonly settings: Settings,
    private readonly processes: Processes,
    private readonly executionsWithoutAgent: ExecutionsWithoutAgent,
    private readonly executionsWithoutConfiguration: ExecutionsWithoutConfiguration,
    unitOfWork: UnitOfWork,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.waiting = new KeptCount('waiting executions', unitOfWork, logger, (reader) => this.countAll(reader));
  }

  get count(): number {
    return this.waiting.value;
  }

  /** Counts a change that `tx` makes. */
  changed(tx: Transaction, difference: number): void {
    tx.afterCommit(() => this.hasChanged(difference));
  }

  /** Counts a change that was committed. */
  hasChanged(difference: number): void {
    this.waiting.hasChanged(difference);
  }

  /** Whether `count` includes executions of this agent that need this configuration (`configurationKey`). */
  counts({ agent, configuration }: { agent: string; configuration: string | null }): boolean {
    if (this.withoutAgent.has(agent)) return false;
    return !this.withoutConfiguration.some((each) => each.agent === agent && each.configuration === configuration);
  }

  @Interval(RECOUNT_MS)
  recountShared(): Promise<void> {
    return this.waiting.recountShared();
  }

  recount(): Promise<void> {
    return this.waiting.recount();
  }

  /** Whether one of the limits is reached, so no more work may be accepted. */
  get isFull(): boolean {
    return (
      this.count >= this.settings.maxPendingExecutions ||
      this.countWithoutAgent >= this.settings.maxExecutionsWithoutAgent
    );
  }

  /** Throws DomainError `unavailable`. */
  refuse(pausedAgents: readonly string[]): never {
    const why =
      this.count >= this.settings.maxPendingExecutions ? this.whyFull(pausedAgents) : this.whyTooManyWithoutAgent();
    throw new DomainError('unavailable', why, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  /**
   * Throws DomainError `unavailable` if executions of replays with this configuration (`configurationKey`) wait for a
   * process that has it, and too many wait for such processes.
   */
  refuseWithoutConfiguration(key: string): void {
    const count = this.withoutConfiguration.reduce((sum, each) => sum + each.count, 0);
    if (count < this.settings.maxPendingExecutions) return;
    if (!this.withoutConfiguration.some(({ configuration }) => configuration === key)) return;
    throw new DomainError(
      'unavailable',
      `${count} executions of replays wait for configurations that no process has, which is the most that this service accepts; start a worker with ${configurationName(key)}, or cancel these replays`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }

  private get countWithoutAgent(): number {
    return [...this.withoutAgent.values()].reduce((sum, count) => sum + count, 0);
  }

  private async countAll(reader: Reader): Promise<number> {
    // One look at the processes decides, so that each execution counts once while processes come and go.
    const known = await this.processes.known();
    this.withoutAgent = await this.executionsWithoutAgent.count(known);
    this.withoutConfiguration = await this.executionsWithoutConfiguration.count(known);
    const counts = await countWaitingExecutions(reader, [...known.agents]);
    const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return this.withoutConfiguration.reduce((left, { count }) => left - count, all);
  }

  private whyFull(pausedAgents: readonly string[]): string {
    const wayOut =
      pausedAgents.length > 0
        ? `try again later, or resume paused agents: ${[...pausedAgents].sort().join(', ')}`
        : 'try again later';
    const { maxPendingExecutions: most } = this.settings;
    return `${this.count} executions are waiting, and this service accepts work while fewer than ${most} wait (max_pending_executions); ${wayOut}`;
  }

  private whyTooManyWithoutAgent(): string {
    const agents = listed([...this.withoutAgent.keys()], 'and');
    return `${this.countWithoutAgent} executions wait for agents that no process has, which is the limit; start a process with ${agents}, or end them with POST /api/v1/executions/fail`;
  }
}
