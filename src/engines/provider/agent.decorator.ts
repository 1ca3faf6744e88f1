import 'reflect-metadata';

import { createHash } from 'node:crypto';

import type { AgentOptions } from '../../catalog/agent-options.js';
import type { ClassAgent } from '../../catalog/configuration-file/parse-agents.js';
import type { AgentClass } from '../engine.js';

export interface ClassAgentOptions extends AgentOptions {
  name: string;
}

const OPTIONS = 'starling:agent';

/**
 * Makes a class an agent. The options are the same as in the configuration file, plus a name and without an engine,
 * because the class is the engine. Its instance is a Nest provider with injected dependencies.
 */
export function Agent(options: ClassAgentOptions): <Class extends AgentClass>(agentClass: Class) => void {
  return (agentClass) => Reflect.defineMetadata(OPTIONS, options, agentClass);
}

/** Returns the options of `@Agent`. Throws if the class has none. A subclass does not inherit them. */
export function agentDefinitionOf(agentClass: AgentClass): ClassAgent {
  const options: unknown = Reflect.getOwnMetadata(OPTIONS, agentClass);
  if (options === undefined)
    throw new Error(
      `the class ${agentClass.name} has no @Agent({...}); add it, or remove the class from the list of agents`,
    );
  // The file of a class is not known, so its own text stands for it.
  const text = createHash('sha256').update(String(agentClass)).digest('hex');
  const code = { files: { [`class ${agentClass.name}`]: text }, packages: {} };
  return { className: agentClass.name, options, engine: { kind: PROVIDER, agentClass }, code };
}

/** The engine kind of agent classes. Configuration files cannot use it. */
export const PROVIDER = 'provider';
