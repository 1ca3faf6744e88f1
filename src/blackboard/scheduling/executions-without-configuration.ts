import { Injectable } from '@nestjs/common';

import { throttled } from '../../common/throttled.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { KnownWork } from '../processes/known-work.js';
import { Processes } from '../processes/processes.js';
import { type ConfigurationCount, countWaitingByConfiguration } from './waiting-rows.js';

/**
 * Executions of replays that wait for a configuration that no live process with their agent has. Those whose agent no
 * process has are not among them.
 */
@Injectable()
export class ExecutionsWithoutConfiguration {
  constructor(
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** The number of such executions by agent and configuration. The value may be a moment old. */
  readonly counts = throttled(() => this.count());

  /** `given`: the processes by which the caller counts other executions, too. */
  async count(given?: KnownWork): Promise<readonly ConfigurationCount[]> {
    const waiting = await countWaitingByConfiguration(this.unitOfWork.reader);
    if (waiting.length === 0) return [];
    const known = given ?? (await this.processes.known());
    return waiting.filter(({ agent, configuration }) => known.hasAgent(agent) && !known.hasAgent(agent, configuration));
  }
}
