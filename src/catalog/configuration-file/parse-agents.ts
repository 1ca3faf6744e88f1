import type { AgentOptions, ConfigurationOptions, RampOptions, Remaining } from '../agent-options.js';
import type { AgentDefinition } from '../definitions.js';
import type { Diagnostics, Path, Report } from '../diagnostics.js';
import type { AgentCode } from '../stored-definition.js';
import { checkAgent, checkAgentName } from './agent-checks.js';
import { defineAgent } from './agent-definition.js';
import { classAgentSchema } from './configuration-schema.js';
import { checkLimitUses } from './limit-checks.js';
import { validateSchema } from './schema-validation.js';
import { checkShares } from './share-checks.js';

/** An agent that is a class. `engine` is an opaque object that refers to the class. */
export interface ClassAgent {
  className: string;
  /** The options of `@Agent`. */
  options: unknown;
  engine: AgentDefinition['engine'];
  code: AgentCode;
}

/** An agent from either source, with its path. */
export interface ParsedAgent {
  path: Path;
  namePath: Path;
  name: string;
  options: Remaining<AgentOptions & RampOptions>;
  engine: AgentDefinition['engine'];
}

export function agentsInFile(configuration: Remaining<ConfigurationOptions>): ParsedAgent[] {
  return Object.entries(configuration.agents ?? {}).map(([name, options = {}]) => {
    const path = ['agents', name];
    return { path, namePath: path, name, options, engine: { ...options.engine, kind: options.engine?.kind ?? '' } };
  });
}

export function agentsInClasses(classes: readonly ClassAgent[], errors: Diagnostics): ParsedAgent[] {
  return classes.map(({ className, options, engine }) => {
    const path = [className];
    const { name = className, ...rest } = validateSchema<AgentOptions & { name: string }>(
      options,
      classAgentSchema,
      path,
      errors,
    );
    return { path, namePath: [...path, 'name'], name, options: rest, engine };
  });
}

/** Defines the agents of both sources with the same checks. */
export function defineAgents(
  parsed: readonly ParsedAgent[],
  limitKeys: ReadonlyMap<string, string | null>,
  maxTtlMs: number | null,
  report: Report,
): AgentDefinition[] {
  const taken = new Set<string>();
  return parsed.map(({ name, namePath, path, options, engine }) => {
    checkAgentName(name, taken, namePath, report.errors);
    checkAgent(options, maxTtlMs, path, report);
    checkLimitUses(options.limits, limitKeys, [...path, 'limits'], report);
    checkShares(options, path, report.errors);
    taken.add(name);
    return defineAgent(name, options, engine, limitKeys);
  });
}
