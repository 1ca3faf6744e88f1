import { Injectable } from '@nestjs/common';

import { Breakers } from '../../blackboard/limits/breakers.js';
import { ExecutedVariants } from '../../blackboard/limits/executed-variants.js';
import { AgentPauses } from '../../blackboard/scheduling/agent-pauses.js';
import { WaitingCounts } from '../../blackboard/scheduling/waiting-counts.js';
import { Catalog } from '../../catalog/catalog.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { agentBody } from './agent.js';
import type { AgentBody } from './dto/agents-body.js';

const NONE: ReadonlyMap<string, number> = new Map();

/** Describes the agents of the configuration as they are now. */
@Injectable()
export class AgentStates {
  constructor(
    private readonly catalog: Catalog,
    private readonly pauses: AgentPauses,
    private readonly waiting: WaitingCounts,
    private readonly breakers: Breakers,
    private readonly variants: ExecutedVariants,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async all(): Promise<AgentBody[]> {
    const [paused, waiting, open, rolledBack] = await Promise.all([
      this.pauses.all(this.unitOfWork.reader),
      this.waiting.counts(),
      this.breakers.open(),
      this.variants.rolledBack(),
    ]);
    return this.catalog.agents.map((agent) =>
      agentBody(agent, this.catalog, {
        paused: paused.has(agent.name),
        waiting: waiting.get(agent.name) ?? 0,
        openBreakers: open.get(agent.name) ?? 0,
        rolledBack: rolledBack.get(agent.name) ?? NONE,
      }),
    );
  }
}
