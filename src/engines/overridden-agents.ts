import { Injectable } from '@nestjs/common';

import { Catalog } from '../catalog/catalog.js';
import type { AgentDefinition } from '../catalog/definitions.js';
import { formatPath } from '../catalog/diagnostics.js';
import type { AgentOverride } from '../catalog/override-options.js';
import { overriddenAgent } from '../catalog/overrides.js';
import type { StoredDefinition } from '../catalog/stored-definition.js';
import { canonicalJson } from '../common/json.js';
import type { PreparedEngine } from './engine.js';
import { EngineKinds } from './engine-kinds.js';
import { OverrideChecks } from './override-checks.js';

/** An agent with other options of its engine, ready to run. */
export interface OverriddenAgent {
  agent: AgentDefinition;
  engine: PreparedEngine;
  /** Null if the catalog has no definitions. */
  definition: StoredDefinition | null;
}

/** The override does not fit the configuration of this process, which is not the one that it was given for. */
export class UnfitOverride extends Error {}

/** Prepared agents that are kept, because the executions of a replay come one after the other. */
const MOST_KEPT = 100;

/** Prepares agents of the catalog with other options of their engines. */
@Injectable()
export class OverriddenAgents {
  private readonly kept = new Map<string, Promise<OverriddenAgent>>();

  constructor(
    private readonly catalog: Catalog,
    private readonly kinds: EngineKinds,
    private readonly checks: OverrideChecks,
  ) {}

  /** `name`: an agent of the catalog. Rejects with UnfitOverride. */
  async get(name: string, override: AgentOverride): Promise<OverriddenAgent> {
    const key = canonicalJson([name, override]);
    const known = this.kept.get(key);
    if (known) return known;
    const prepared = this.prepare(this.catalog.agent(name)!, override);
    this.kept.set(key, prepared);
    if (this.kept.size > MOST_KEPT) this.kept.delete(this.kept.keys().next().value!);
    try {
      return await prepared;
    } catch (error) {
      this.kept.delete(key);
      throw error;
    }
  }

  private async prepare(configured: AgentDefinition, override: AgentOverride): Promise<OverriddenAgent> {
    const { name } = configured;
    const problem = await this.checks.problemOf(configured, override);
    if (problem)
      throw new UnfitOverride(
        `what the replay overrides does not fit the configuration of ${name} any more: ${formatPath(problem.path)}: ${problem.message}`,
      );
    const agent = overriddenAgent(configured, override);
    const definition = this.catalog.definitions.get(name)?.overriddenBy(override) ?? null;
    return { agent, engine: await this.kinds.prepare(agent), definition };
  }
}
