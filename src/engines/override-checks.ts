import { Injectable } from '@nestjs/common';

import type { Catalog } from '../catalog/catalog.js';
import type { EngineFinding } from '../catalog/configuration-file/engine-kind.js';
import { validateSchema } from '../catalog/configuration-file/schema-validation.js';
import type { AgentDefinition } from '../catalog/definitions.js';
import { Diagnostics, type Path } from '../catalog/diagnostics.js';
import { modelProblem } from '../catalog/model-choice.js';
import { type AgentOverride, OVERRIDABLE } from '../catalog/override-options.js';
import { overriddenAgent } from '../catalog/overrides.js';
import { isJsonObject } from '../common/json.js';
import { listed, nearestName } from '../common/names-in-messages.js';
import { shown } from '../common/short-text.js';
import { withinTime } from '../common/time-limit.js';
import { EngineKinds } from './engine-kinds.js';

/** All checks of one request. Expressions of clients may be made to take long; others take a few milliseconds. */
export const LONGEST_CHECKS_MS = 5_000;
const VARIABLE = /\$\{[A-Za-z_]/;

export interface OverrideProblem {
  path: Path;
  message: string;
}

/** Checks what a replay overrides in the options of an agent. */
@Injectable()
export class OverrideChecks {
  constructor(private readonly kinds: EngineKinds) {}

  /**
   * Returns the first problem, with its path inside the override; null if the agent of the catalog can run with it. An
   * expression whose check takes longer than `limitMs` is a problem.
   */
  async problemOf(
    agent: AgentDefinition,
    catalog: Catalog,
    given: unknown,
    limitMs = LONGEST_CHECKS_MS,
  ): Promise<OverrideProblem | null> {
    if (!isJsonObject(given) || Object.keys(given).length === 0)
      return { path: [], message: `must be an object with one or more of ${OPTIONS}` };
    for (const [option, value] of Object.entries(given)) {
      const message = this.optionProblem(agent, catalog, option, value);
      if (message !== null) return { path: [shown(option)], message };
    }
    return this.engineProblem(overriddenAgent(agent, given as AgentOverride), catalog, limitMs);
  }

  private optionProblem(agent: AgentDefinition, catalog: Catalog, option: string, value: unknown): string | null {
    if (!OVERRIDABLE.some((known) => known === option)) return fixed(option);
    const schema = this.kinds.schemaOf(agent, option);
    if (!schema) {
      const kinds = this.kinds.having(option).join(' and ');
      return `is an option of ${kinds} agents, but ${agent.name} has the engine ${agent.engine.kind}`;
    }
    if (typeof value === 'object') return 'must be a text or a number';
    const errors = new Diagnostics();
    validateSchema({ [option]: value }, schema, [], errors);
    const [error] = errors.toDiagnostics(() => undefined);
    if (error) return error.message;
    if (VARIABLE.test(String(value)))
      return 'must not have variables such as ${NAME}, which only the configuration has';
    return option === 'model' ? modelProblem(agent, value as string, catalog) : null;
  }

  private async engineProblem(
    agent: AgentDefinition,
    catalog: Catalog,
    limitMs: number,
  ): Promise<OverrideProblem | null> {
    const begun = withinTime(limitMs, () => this.kinds.in(catalog).check(agent));
    if (!begun) return { path: ['expression'], message: 'takes too long to check; make it simpler' };
    const error = (await begun.result).find(({ warning }) => !warning);
    return error ? { path: error.path, message: placed(error) } : null;
  }
}

const OPTIONS = listed(OVERRIDABLE, 'and');

function fixed(option: string): string {
  // `module` is not a misspelt `model`.
  const nearest = nearestName(option, OVERRIDABLE, 1);
  return nearest === undefined
    ? `comes from the configuration; a replay may override ${OPTIONS}`
    : `comes from the configuration; did you mean ${nearest}?`;
}

const placed = ({ message, offset }: EngineFinding): string =>
  offset === undefined ? message : `${message} (at character ${offset + 1})`;
