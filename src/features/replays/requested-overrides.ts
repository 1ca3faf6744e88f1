import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { formatPath } from '../../catalog/diagnostics.js';
import type { Overrides } from '../../catalog/overrides.js';
import { meant } from '../../catalog/unknown-names.js';
import { DomainError } from '../../common/domain-error.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import type { JsonObject } from '../../common/json.js';
import { scheduler } from '../../common/scheduler.js';
import { shown } from '../../common/short-text.js';
import type { ReplayMode } from '../../database/schema.js';
import { effectOf } from '../../engines/effects.js';
import { LONGEST_CHECKS_MS, OverrideChecks, type OverrideProblem } from '../../engines/override-checks.js';
import { MOST_OVERRIDE_BYTES } from './dto/replay-request.js';

/** Checks what a request wants to override. */
@Injectable()
export class RequestedOverrides {
  constructor(
    private readonly catalog: Catalog,
    private readonly checks: OverrideChecks,
  ) {}

  /** Returns null if nothing is overridden. Throws DomainError `invalid` with the first problem. */
  async check(given: JsonObject | undefined, mode: ReplayMode): Promise<Overrides | null> {
    if (given === undefined || Object.keys(given).length === 0) return null;
    const bytes = Buffer.byteLength(JSON.stringify(given));
    if (bytes > MOST_OVERRIDE_BYTES)
      throw new DomainError(
        'invalid',
        `overrides: must have at most ${MOST_OVERRIDE_BYTES} bytes of JSON (got ${bytes})`,
      );
    let leftMs = LONGEST_CHECKS_MS;
    for (const [name, override] of Object.entries(given)) {
      // To compile a long expression takes 100 ms.
      await yieldToEventLoop();
      const begunAt = scheduler.elapsed();
      const problem = await this.problemOf(name, override, mode, leftMs);
      leftMs = Math.max(1, Math.floor(leftMs - (scheduler.elapsed() - begunAt)));
      if (!problem) continue;
      const { path, message } = problem;
      throw new DomainError('invalid', `${formatPath(['overrides', shown(name), ...path])}: ${message}`);
    }
    return given as Overrides;
  }

  private async problemOf(
    name: string,
    override: unknown,
    mode: ReplayMode,
    limitMs: number,
  ): Promise<OverrideProblem | null> {
    const agent = this.catalog.agent(name);
    if (agent) return (await this.checks.problemOf(agent, override, limitMs)) ?? shadowProblem(agent, mode);
    return { path: [], message: `no agent has this name${meant(name, this.catalog.agents) ?? ''}` };
  }
}

function shadowProblem(agent: AgentDefinition, mode: ReplayMode): OverrideProblem | null {
  const effect = mode === 'shadow' ? effectOf(agent) : null;
  if (effect === null) return null;
  return {
    path: [],
    message: `a shadow replay does not run ${agent.name}, because ${effect}; replay with another mode`,
  };
}
