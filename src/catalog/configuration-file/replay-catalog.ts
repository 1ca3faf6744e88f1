import { canonicalJson, type JsonValue } from '../../common/json.js';
import { Catalog } from '../catalog.js';
import type { AgentDefinition } from '../definitions.js';
import { CatalogError, Diagnostics } from '../diagnostics.js';
import type { AgentCode, ConfiguredDefinition } from '../stored-definition.js';
import { configuredDefinition, type Spelled } from './agent-definitions.js';
import { digestOf } from './configuration-digest.js';
import type { EngineChecks, EngineKind } from './engine-kind.js';
import type { LoadedCatalog } from './load-catalog.js';

/** The configuration of the service. `file` is for messages. */
export interface ServiceCatalog extends Pick<LoadedCatalog, 'catalog' | 'spelled'> {
  file: string;
}

/**
 * Returns the catalog that replays with this file take agents from: the engines and the timeouts are those of the file,
 * and everything else is from the configuration of the service. Throws CatalogError with all problems.
 */
export async function replayCatalog(
  file: string,
  { catalog: own, spelled, placeOf, server }: LoadedCatalog,
  service: ServiceCatalog,
  engines: readonly EngineKind[],
  environment: EngineChecks['environment'],
): Promise<Catalog> {
  const errors = new Diagnostics();
  const agents = withTimeouts(own.agents, spelled, service.catalog);
  compare({ agents, types: own.types }, service, errors);
  const catalog = merged(agents, own, spelled, service);
  if (errors.empty) await checkEngines(catalog, engines, environment, errors);
  if (!errors.empty) throw new CatalogError(file, errors.toDiagnostics(placeOf), { server, placeOf });
  return catalog;
}

/** An agent without a timeout in its file has that of the service, and not the default. */
function withTimeouts(agents: readonly AgentDefinition[], spelled: Spelled, service: Catalog): AgentDefinition[] {
  return agents.map((agent) => {
    const own = service.agent(agent.name);
    return own && !('timeout' in takenOptions(agent, spelled)) ? { ...agent, timeoutMs: own.timeoutMs } : agent;
  });
}

/** The options that replays take from the file, as it spells them. */
interface TakenOptions {
  engine: object;
  timeout?: string;
}

function takenOptions({ name }: AgentDefinition, { agents }: Spelled): TakenOptions {
  const { engine, timeout } = agents![name] as TakenOptions;
  return { engine, ...(timeout !== undefined && { timeout }) };
}

/** A difference that replays leave out must not go unnoticed. */
function compare(
  { agents, types }: Pick<Catalog, 'agents' | 'types'>,
  { file, catalog }: ServiceCatalog,
  errors: Diagnostics,
): void {
  const mustBeSame = `must be as in ${file}, because replays take only engine and timeout from here`;
  for (const agent of agents) {
    const own = catalog.agent(agent.name);
    const path = ['agents', agent.name];
    if (!own) errors.add(path, `is not an agent of ${file}, so no replay would run it`);
    else for (const option of differences(agent, own)) errors.add([...path, option], mustBeSame);
  }
  for (const { name, schema, version } of types) {
    const own = catalog.type(name);
    // A file need not declare the types again.
    if (own && schema !== null && !isSame([version, schema], [own.version, own.schema]))
      errors.add(['types', name], mustBeSame);
  }
}

function differences(agent: AgentDefinition, own: AgentDefinition): string[] {
  return [
    ...(isSame(agent.subscriptions, own.subscriptions) ? [] : ['consumes']),
    ...(isSame(agent.outputs, own.outputs) ? [] : ['publishes']),
    ...(agent.variants === null || agent.variants.digest === own.variants?.digest ? [] : ['variants']),
    ...(isExternal(agent) || isExternal(own) ? differencesOfExternal(agent, own) : []),
  ];
}

/** Clients claim the work of external agents, and they see the configuration of the service alone. */
function differencesOfExternal(agent: AgentDefinition, own: AgentDefinition): string[] {
  if (!isSame(agent.engine, own.engine)) return ['engine'];
  return agent.timeoutMs === own.timeoutMs ? [] : ['timeout'];
}

const isExternal = ({ engine }: AgentDefinition): boolean => engine.kind === 'external';

/** Compares plain data. */
const isSame = (one: unknown, other: unknown): boolean => textOf(one) === textOf(other);

const textOf = (value: unknown): string => canonicalJson(JSON.parse(JSON.stringify(value)) as JsonValue);

/**
 * External agents are left to the service, also their definitions: nothing of them can differ. The other agents use no
 * variants, so a definition with the options of a variant is none of theirs.
 */
function merged(
  agents: readonly AgentDefinition[],
  { models, definitions: own, baseDirectory }: Catalog,
  spelled: Spelled,
  service: ServiceCatalog,
): Catalog {
  const { types, budget, limits } = service.catalog;
  const taken = agents.flatMap(({ name, engine, timeoutMs }) => {
    const replaced = service.catalog.agent(name);
    return replaced && !isExternal(replaced) ? [{ ...replaced, engine, timeoutMs, variants: null }] : [];
  });
  const parts = taken.map((agent) => ({ agent, options: takenOptions(agent, spelled), code: codeIn(own, agent) }));
  const definitions = new Map(
    parts.map(({ agent, options, code }) => [agent.name, definitionOf(agent, options, code, service)]),
  );
  // Covers all that is taken, so that the work of a replay can be left to processes that have the same.
  const all = Object.fromEntries(parts.map(({ agent, options, code }) => [agent.name, [options, code]]));
  const digest = digestOf([all, spelled.models ?? null]);
  return new Catalog(types, taken, baseDirectory, { models, budget, limits, digest, definitions });
}

/** The definition with the options of the service, and those of the file that are taken. */
function definitionOf(
  agent: AgentDefinition,
  taken: TakenOptions,
  code: AgentCode,
  { catalog, spelled }: ServiceCatalog,
): ConfiguredDefinition {
  const { options } = JSON.parse(catalog.definitions.get(agent.name)!.definition) as { options: object };
  return configuredDefinition(agent, { ...options, ...taken }, spelled, code);
}

function codeIn(definitions: Catalog['definitions'], { name }: AgentDefinition): AgentCode {
  const { files, packages } = JSON.parse(definitions.get(name)!.definition) as AgentCode;
  return { files, packages };
}

/** Budgets, for example, are those of the service, and need prices of the models. */
async function checkEngines(
  catalog: Catalog,
  engines: readonly EngineKind[],
  environment: EngineChecks['environment'],
  errors: Diagnostics,
): Promise<void> {
  const { agents, baseDirectory } = catalog;
  for (const agent of agents) {
    const engine = engines.find(({ kind }) => kind === agent.engine.kind)!;
    for (const { path, message, warning, offset } of await engine.check(agent, { baseDirectory, environment, catalog }))
      if (!warning)
        errors.add(['agents', agent.name, 'engine', ...path], message, offset === undefined ? undefined : { offset });
  }
}
