import 'reflect-metadata';
import type { AgentOptions } from '../../catalog/agent-options.js';
import type { ClassAgent } from '../../catalog/configuration-file/parse-agents.js';
import type { AgentClass } from '../engine.js';

export interface ClassAgentOptions extends AgentOptions {
  name: string;
}

const OPTIONS = 'starling:agent';

/**
 * Makes a class an agent: the same options as in the configuration file, with its name, and without an engine, since the
 * class is the engine. Its instance is a Nest provider and gets its dependencies by injection.
 */
export function Agent(options: ClassAgentOptions): <Class extends AgentClass>(agentClass: Class) => void {
  return (agentClass) => Reflect.defineMetadata(OPTIONS, options, agentClass);
}

/** What `@Agent` was given. Throws where the class has none; a subclass does not inherit its parent's. */
export function agentDefinitionOf(agentClass: AgentClass): ClassAgent {
  const options: unknown = Reflect.getOwnMetadata(OPTIONS, agentClass);
  if (options === undefined) throw new Error(`the class ${agentClass.name} has no @Agent({...}); add it, or take the class out of the list of agents`);
  return { className: agentClass.name, options, engine: { kind: PROVIDER, agentClass } };
}

/** The kind of engine that stands for an agent class; configuration files cannot name it. */
export const PROVIDER = 'provider';
