import type { Catalog } from '../catalog/catalog.js';
import { PreparedEngines, type Engine, type EngineEnvironment, type PreparedEngine } from './engine.js';
import { ExpressionEngine } from './expression/expression.engine.js';
import { ExternalEngine } from './external/external.engine.js';
import { FunctionEngine } from './function/function.engine.js';
import { HttpEngine } from './http/http.engine.js';
import { LlmEngine } from './llm/llm.engine.js';
import { ProviderEngine } from './provider/provider.engine.js';

/** The kinds of engines that a configuration file may name. */
export const FILE_ENGINES: readonly Engine[] = [new ExpressionEngine(), new FunctionEngine(), new HttpEngine(), new LlmEngine(), new ExternalEngine()];

const ENGINES: readonly Engine[] = [...FILE_ENGINES, new ProviderEngine()];

/** Makes every agent's engine ready to run; rejects where one cannot be, which the checks at start would have told. */
export async function prepareEngines(catalog: Catalog, environment: EngineEnvironment): Promise<PreparedEngines> {
  const prepared = new Map<string, PreparedEngine>();
  for (const agent of catalog.agents) {
    const engine = ENGINES.find(({ kind }) => kind === agent.engine.kind);
    if (!engine) throw new Error(`agent ${agent.name}: there is no engine of kind ${agent.engine.kind}`);
    prepared.set(agent.name, await engine.prepare(agent, environment));
  }
  return new PreparedEngines(prepared);
}
