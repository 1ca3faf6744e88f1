import { Injectable } from '@nestjs/common';

import { Catalog } from '../catalog/catalog.js';
import type { AgentDefinition } from '../catalog/definitions.js';
import { formatPath } from '../catalog/diagnostics.js';
import { type AgentChange, overriddenAgent } from '../catalog/overrides.js';
import type { StoredDefinition } from '../catalog/stored-definition.js';
import { canonicalJson } from '../common/json.js';
import type { PreparedEngine } from './engine.js';
import { EngineKinds } from './engine-kinds.js';
import { OverrideChecks } from './override-checks.js';

/** An agent that differs from the configuration of the service, ready to run. */
export interface OverriddenAgent {
  agent: AgentDefinition;
  engine: PreparedEngine;
  /** Null if the catalog has no definitions. */
  definition: StoredDefinition | null;
}

/** The change does not fit the configuration of this process, which is not the one that it was given for. */
export class UnfitOverride extends Error {}

/** Prepared agents that are kept, because the executions of a replay come one after the other. */
const MOST_KEPT = 100;

/** Prepares agents of other configurations, and agents with other options of their engines. */
@Injectable()
export class OverriddenAgents {
  private readonly kept = new Map<string, Promise<OverriddenAgent>>();

  constructor(
    private readonly catalog: Catalog,
    private readonly kinds: EngineKinds,
    private readonly checks: OverrideChecks,
  ) {}

  /** `name`: an agent of the catalog. Returns null if nothing differs in it. Rejects with UnfitOverride. */
  async get(name: string, { configuration, override }: AgentChange): Promise<OverriddenAgent | null> {
    if (!this.catalog.canReplay(configuration))
      throw new UnfitOverride(`this process does not have the configuration ${configuration!.name} of the replay`);
    const catalog = this.catalog.forReplay(name, configuration);
    if (catalog === this.catalog && override === null) return null;
    const key = canonicalJson([catalog === this.catalog ? null : configuration!.name, name, override]);
    const known = this.kept.get(key);
    if (known) return known;
    const prepared = this.prepare(catalog, name, override);
    this.kept.set(key, prepared);
    if (this.kept.size > MOST_KEPT) this.kept.delete(this.kept.keys().next().value!);
    try {
      return await prepared;
    } catch (error) {
      this.kept.delete(key);
      throw error;
    }
  }

  private async prepare(catalog: Catalog, name: string, override: AgentChange['override']): Promise<OverriddenAgent> {
    const configured = catalog.agent(name)!;
    const kinds = this.kinds.in(catalog);
    const known = catalog.definitions.get(name) ?? null;
    if (override === null) return { agent: configured, engine: await kinds.prepare(configured), definition: known };
    const problem = await this.checks.problemOf(configured, catalog, override);
    if (problem)
      throw new UnfitOverride(
        `what the replay overrides does not fit the configuration of ${name} any more: ${formatPath(problem.path)}: ${problem.message}`,
      );
    const agent = overriddenAgent(configured, override);
    return { agent, engine: await kinds.prepare(agent), definition: known?.overriddenBy(override) ?? null };
  }
}
