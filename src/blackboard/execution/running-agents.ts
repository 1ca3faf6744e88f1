import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { overriddenAgent } from '../../catalog/overrides.js';
import { type PreparedEngine, PreparedEngines } from '../../engines/engine.js';
import { OverriddenAgents } from '../../engines/overridden-agents.js';
import { DefinitionStore } from '../processes/definition-store.js';
import { CachedAnswers } from './cached-answers.js';
import type { ClaimedExecution } from './claimed-execution.js';

/** The agent of an execution, as it runs. */
export interface RunningAgent {
  agent: AgentDefinition;
  engine: PreparedEngine;
  /** The digest of its definition; null if that is not known. */
  definition: string | null;
}

/** Finds the agents with which executions run. */
@Injectable()
export class RunningAgents {
  /** The definitions that this process has stored. */
  private readonly stored = new WeakSet<object>();

  constructor(
    private readonly catalog: Catalog,
    private readonly engines: PreparedEngines,
    private readonly overridden: OverriddenAgents,
    private readonly definitions: DefinitionStore,
    private readonly cached: CachedAnswers,
  ) {}

  /** The agent of the configuration, with the variant of the execution. */
  configured({ agent: name, definition, variant }: ClaimedExecution): RunningAgent {
    const agent = this.catalog.agent(name)!;
    const other = agent.variants?.all.find((each) => each.name === variant);
    if (!other) return { agent, engine: this.engines.for(name)!, definition };
    const engine = this.engines.forVariant(name, other.name)!;
    return { agent: overriddenAgent(agent, other.override), engine, definition };
  }

  /** The engine of one attempt, which takes an earlier answer if the agent has `cache`. */
  engineFor(execution: Parameters<CachedAnswers['around']>[0], { agent, engine }: RunningAgent): PreparedEngine {
    return this.cached.around(execution, agent, engine);
  }

  /** The agent with what differs in the replay. Rejects with UnfitOverride, or with DomainError `unavailable`. */
  async of(execution: ClaimedExecution): Promise<RunningAgent> {
    const changed = execution.change && (await this.overridden.get(execution.agent, execution.change));
    if (!changed) return this.configured(execution);
    const { agent, engine, definition } = changed;
    if (definition && !this.stored.has(definition)) {
      await this.definitions.add([definition]);
      this.stored.add(definition);
    }
    return { agent, engine, definition: definition?.digest ?? null };
  }
}
