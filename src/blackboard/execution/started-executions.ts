import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { BASE } from '../../catalog/variants.js';
import { random } from '../../common/random.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { ImmediateStarts, type KeptSlot } from '../scheduling/immediate-starts.js';
import { countStart } from './activity-event-rows.js';
import { claimedExecution, definitionOf } from './claimed-execution.js';
import { ExecutionSlots } from './execution-slots.js';
import { Executor } from './executor.js';

/** Gives executions that are added a slot of the executor, if one would take them next. */
@Injectable()
export class StartedExecutions {
  constructor(
    starts: ImmediateStarts,
    private readonly catalog: Catalog,
    private readonly slots: ExecutionSlots,
    private readonly executor: Executor,
  ) {
    starts.use((tx, agent, id) => this.keepSlot(tx, agent, id));
  }

  /**
   * Whether an inline run of the agent may end now, as far as this process knows. It takes no slot, because nothing else runs in
   * the process meanwhile. If the agent's executions have an order, it waits behind others.
   */
  mayEndInline(agent: AgentDefinition): boolean {
    const { loop } = this.executor;
    return hasOrder(agent) ? this.slots.isOwn(agent.name) && loop.hasFreeSlot(agent.name) : loop.isWorking;
  }

  private keepSlot(tx: Transaction, agent: string, id: string): KeptSlot | null {
    const { loop } = this.executor;
    const lease = this.slots.isOwn(agent) ? loop.keepSlot(agent, id) : null;
    if (!lease) return null;
    tx.whenUndone((isUnknown) => loop.releaseKept(agent, id, isUnknown));
    const leaseToken = random.uuid();
    return {
      lease: { leaseToken, ...lease },
      release: () => loop.releaseKept(agent, id, false),
      countStart: async (row) => {
        await countStart(tx, row.id, row.created_at);
      },
      start: (row, inputs) => {
        const definition = definitionOf(this.catalog, agent);
        // An execution with a variant needs a claim.
        const variant = this.catalog.agent(agent)?.variants ? BASE : null;
        const held = { leaseToken, inputs, definition, change: null, variant, now: row.created_at };
        loop.startKept(claimedExecution(row, held));
      },
    };
  }
}

/** Other agents' executions may run in any order (docs/architecture.md). */
const hasOrder = ({ fairness, subscriptions }: AgentDefinition): boolean =>
  fairness !== null || subscriptions.some(({ priority, priorityBy }) => priority !== 0 || priorityBy !== null);
