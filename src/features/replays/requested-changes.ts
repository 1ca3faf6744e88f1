import { Injectable } from '@nestjs/common';

import { Processes } from '../../blackboard/processes/processes.js';
import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { type Diagnostics, formatPath, type Path } from '../../catalog/diagnostics.js';
import { NO_CHANGES, type Overrides, type ReplayChanges } from '../../catalog/overrides.js';
import { configurationKey, type ReplayConfiguration } from '../../catalog/replay-configuration.js';
import { meant } from '../../catalog/unknown-names.js';
import { DomainError } from '../../common/domain-error.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import type { JsonObject } from '../../common/json.js';
import { listed } from '../../common/names-in-messages.js';
import { scheduler } from '../../common/scheduler.js';
import { shown } from '../../common/short-text.js';
import type { ReplayMode } from '../../database/schema.js';
import { effectOf } from '../../engines/effects.js';
import { LONGEST_CHECKS_MS, OverrideChecks, type OverrideProblem } from '../../engines/override-checks.js';
import { CONFIGURATION_RULE, MOST_OVERRIDE_BYTES } from './dto/replay-request.js';

interface GivenChanges {
  /** A value of any type, if the form of the request was not checked. */
  configuration?: unknown;
  overrides?: JsonObject;
}

/** Checks what a request wants to differ from the configuration. */
@Injectable()
export class RequestedChanges {
  constructor(
    private readonly catalog: Catalog,
    private readonly checks: OverrideChecks,
    private readonly processes: Processes,
  ) {}

  /**
   * Adds all problems; `at` leads to the changes. Throws DomainError `conflict` if only another process has the
   * configuration.
   */
  async check(
    { configuration, overrides }: GivenChanges,
    mode: ReplayMode,
    problems: Diagnostics,
    at: Path = [],
  ): Promise<ReplayChanges> {
    const named = configuration === undefined ? null : await this.configurationOf(configuration, at);
    if (typeof named === 'string') {
      // The overrides are for agents of the configuration.
      problems.add([...at, 'configuration'], named);
      return NO_CHANGES;
    }
    await this.checkOverrides(overrides, { mode, configuration: named }, problems, [...at, 'overrides']);
    return { configuration: named, overrides: overridesIn(overrides) };
  }

  /** Returns a text if it is wrong. */
  private async configurationOf(given: unknown, at: Path): Promise<ReplayConfiguration | string> {
    if (typeof given !== 'string') return CONFIGURATION_RULE;
    const { replayCatalogs } = this.catalog;
    const catalog = replayCatalogs.get(given);
    if (catalog) return { name: given, digest: catalog.digest };
    // To check the rest of the request, this process would need it.
    if ((await this.processes.known()).hasConfiguration(configurationKey({ name: given, digest: null })))
      throw new DomainError(
        'conflict',
        `${formatPath([...at, 'configuration'])}: the process that got this request was not given ${given}, but another one was; send the request to that one, or start all processes with it (setting replay_config)`,
      );
    const known = [...replayCatalogs.keys()];
    return known.length === 0
      ? 'the operator gave no configuration for replays (setting replay_config)'
      : `must be ${listed(known, 'or')}, which the operator gave at the start (got ${JSON.stringify(shown(given))})`;
  }

  private async checkOverrides(
    given: JsonObject | undefined,
    { mode, configuration }: { mode: ReplayMode; configuration: ReplayConfiguration | null },
    problems: Diagnostics,
    at: Path,
  ): Promise<void> {
    if (given === undefined) return;
    const bytes = Buffer.byteLength(JSON.stringify(given));
    if (bytes > MOST_OVERRIDE_BYTES)
      return problems.add(at, `must have at most ${MOST_OVERRIDE_BYTES} bytes of JSON (got ${bytes})`);
    let leftMs = LONGEST_CHECKS_MS;
    for (const [name, override] of Object.entries(given)) {
      // To compile a long expression takes 100 ms.
      await yieldToEventLoop();
      const begunAt = scheduler.elapsed();
      const problem = await this.problemOf({ name, configuration }, override, mode, leftMs);
      leftMs = Math.max(1, Math.floor(leftMs - (scheduler.elapsed() - begunAt)));
      if (problem) problems.add([...at, shown(name), ...problem.path], problem.message);
    }
  }

  private async problemOf(
    { name, configuration }: { name: string; configuration: ReplayConfiguration | null },
    override: unknown,
    mode: ReplayMode,
    limitMs: number,
  ): Promise<OverrideProblem | null> {
    const catalog = this.catalog.forReplay(name, configuration);
    const agent = catalog.agent(name);
    if (agent) return (await this.checks.problemOf(agent, catalog, override, limitMs)) ?? shadowProblem(agent, mode);
    return { path: [], message: `no agent has this name${meant(name, this.catalog.agents) ?? ''}` };
  }
}

const overridesIn = (given: JsonObject | undefined): Overrides | null =>
  given === undefined || Object.keys(given).length === 0 ? null : (given as Overrides);

function shadowProblem(agent: AgentDefinition, mode: ReplayMode): OverrideProblem | null {
  const effect = mode === 'shadow' ? effectOf(agent) : null;
  if (effect === null) return null;
  return {
    path: [],
    message: `a shadow replay does not run ${agent.name}, because ${effect}; replay with another mode`,
  };
}
