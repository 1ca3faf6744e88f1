import type { Catalog } from '../catalog/catalog.js';
import { overriddenAgent } from '../catalog/overrides.js';
import { type Engine, type PreparedEngine, PreparedEngines } from './engine.js';
import type { EngineKinds } from './engine-kinds.js';
import { ExpressionEngine } from './expression/expression.engine.js';
import { ExternalEngine } from './external/external.engine.js';
import { FunctionEngine } from './function/function.engine.js';
import { HttpEngine } from './http/http.engine.js';
import { LlmEngine } from './llm/llm.engine.js';
import { ProviderEngine } from './provider/provider.engine.js';

/** Injection token for the engines that run agents. */
export const ENGINES = Symbol('engines');

/** The engine kinds that a configuration file may use. */
export const FILE_ENGINES: readonly Engine[] = [
  new ExpressionEngine(),
  new FunctionEngine(),
  new HttpEngine(),
  new LlmEngine(),
  new ExternalEngine(),
];

export const ALL_ENGINES: readonly Engine[] = [...FILE_ENGINES, new ProviderEngine()];

export const ENGINE_KINDS: string[] = ALL_ENGINES.map(({ kind }) => kind);

/**
 * Prepares the engines of all agents. Rejects if one cannot be prepared, which the checks at start have already
 * excluded.
 */
export async function prepareEngines({ agents }: Catalog, kinds: EngineKinds): Promise<PreparedEngines> {
  const prepared = new Map<string, PreparedEngine>();
  const ofVariants = new Map<string, Map<string, PreparedEngine>>();
  for (const agent of agents) {
    prepared.set(agent.name, await kinds.prepare(agent));
    const own = new Map<string, PreparedEngine>();
    for (const { name, override } of agent.variants?.all ?? [])
      own.set(name, await kinds.prepare(overriddenAgent(agent, override)));
    ofVariants.set(agent.name, own);
  }
  return new PreparedEngines(prepared, ofVariants);
}
