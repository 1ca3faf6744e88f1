import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

import type { JsonObject } from '../../common/json.js';
import type { Environment } from '../../config/environment.js';
import type { Settings } from '../../config/settings.js';
import type { ConfigurationOptions, LimitOptions, Remaining } from '../agent-options.js';
import { Catalog } from '../catalog.js';
import { defineBudget, defineModels } from '../costs.js';
import {
  CatalogError,
  type ConfigurationSource,
  type Diagnostic,
  type Diagnostics,
  formatPath,
  Report,
} from '../diagnostics.js';
import type { ConfiguredDefinition } from '../stored-definition.js';
import { configuredDefinition, type Spelled } from './agent-definitions.js';
import { configurationDigest } from './configuration-digest.js';
import { configurationSchema } from './configuration-schema.js';
import { artifactTypes } from './declared-types.js';
import type { EngineChecks, EngineKind } from './engine-kind.js';
import { cancelKeyFindings, inputFindings, subscriptionFindings } from './expression-types.js';
import { limitsInFile, warnOfUnusedLimits } from './limit-checks.js';
import { misspeltTypes } from './misspelt-types.js';
import { agentsInClasses, agentsInFile, type ClassAgent, defineAgents, type ParsedAgent } from './parse-agents.js';
import { checkSchedules, schedulesInFile } from './parse-schedules.js';
import { ruleExpressions } from './rule-expressions.js';
import { validateSchema } from './schema-validation.js';
import { cycleWarnings, triggerWarnings } from './trigger-warnings.js';
import { usedSchema } from './used-schema.js';
import { checkVariants } from './variant-checks.js';
import { parseYamlSource } from './yaml-source.js';

export interface CatalogSources {
  /** Path of the configuration file, YAML or JSON. */
  file: string;
  /** Used instead of the file's content. */
  text?: string;
  environment: Environment;
  /** The engine kinds that the file may use. */
  engines: readonly EngineKind[];
  /** JSON Schema of the `server:` section. */
  serverSchema: JsonObject;
  /**
   * Resolves all settings, from that section and elsewhere. Returns null if they are invalid, which is reported
   * elsewhere.
   */
  settings(server: Record<string, unknown>): Settings | null;
  classAgents?: readonly ClassAgent[];
}

export interface LoadedCatalog extends ConfigurationSource {
  catalog: Catalog;
  warnings: Diagnostic[];
  /** Absolute path of the configuration file's folder, where relative module paths start. */
  baseDirectory: string;
  /** The content of the file, with variables as it spells them. */
  spelled: Spelled;
}

/** Reads the configuration file and the agents that are classes. Throws CatalogError with all problems. */
export async function loadCatalog(sources: CatalogSources): Promise<LoadedCatalog> {
  const report = new Report();
  const { errors, warnings } = report;
  const baseDirectory = dirname(resolve(sources.file));
  const source = parseYamlSource(sources.text ?? (await readText(sources.file)), sources.environment, errors);
  const { placeOf } = source;
  if (!source.readable) throw new CatalogError(sources.file, errors.toDiagnostics(placeOf));

  const schema = usedSchema(configurationSchema(sources.engines, sources.serverSchema), [source.value]);
  const configuration = validateSchema<ConfigurationOptions>(source.value, schema, [], errors);
  const parsed = [...agentsInFile(configuration), ...agentsInClasses(sources.classAgents ?? [], errors)];
  const server = configuration.server ?? {};
  const settings = sources.settings(server);
  const limits = limitsInFile(configuration, report);
  const agents = defineAgents(parsed, limits.keys, settings?.maxTtlMs ?? null, report);
  warnOfUnusedLimits(limits.limits, agents, report);
  const digest = configurationDigest(
    source.spelled,
    (sources.classAgents ?? []).map(({ className, options }) => [className, options]),
  );
  const further = {
    models: defineModels(configuration.models ?? {}),
    budget: defineBudget(configuration.budget),
    limits: limits.limits,
    digest,
    schedules: schedulesInFile(configuration, report),
  };
  const types = artifactTypes(configuration.types ?? {}, agents, settings?.bodyLimitBytes ?? null, report);
  const checked = new Catalog(types, agents, baseDirectory, further);
  const checks = { baseDirectory, environment: sources.environment, catalog: checked };
  // First, because it leaves out agents with an error in what they consume.
  checkRuleTypes(checked, parsed, configuration.limits ?? {}, report);
  checkSubscriptionTypes(checked, parsed, report);
  checkCaches(checked, parsed, errors);
  await checkSchedules(configuration, checked, settings?.bodyLimitBytes ?? null, report);
  await checkEngines(sources.engines, checks, parsed, report);
  await checkVariants(sources.engines, checks, parsed, report);
  if (!errors.empty) throw new CatalogError(sources.file, errors.toDiagnostics(placeOf), { server, placeOf });

  const spelled = (source.spelled ?? {}) as Spelled;
  const definitions = definitionsOf(sources, checks, spelled);
  const catalog = new Catalog(types, agents, baseDirectory, { ...further, definitions });
  addCatalogWarnings(catalog, Object.keys(configuration.types ?? {}), parsed, warnings);
  return { catalog, warnings: warnings.toDiagnostics(placeOf), server, placeOf, baseDirectory, spelled };
}

/** By the names of the agents. */
function definitionsOf(
  { engines, classAgents = [] }: CatalogSources,
  checks: EngineChecks,
  spelled: Spelled,
): Map<string, ConfiguredDefinition> {
  const inClasses = new Map(classAgents.map((one) => [(one.options as { name?: string }).name ?? one.className, one]));
  return new Map(
    checks.catalog.agents.map((agent) => {
      const { options, code } = inClasses.get(agent.name) ?? {
        options: spelled.agents?.[agent.name],
        code: engines.find(({ kind }) => kind === agent.engine.kind)?.code?.(agent, checks),
      };
      return [agent.name, configuredDefinition(agent, options, spelled, code ?? { files: {}, packages: {} })];
    }),
  );
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CatalogError(file, [{ path: '', message: whyUnreadable(error as NodeJS.ErrnoException) }]);
  }
}

function whyUnreadable({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'the file does not exist';
  if (code === 'EISDIR') return 'it is a folder; name the configuration file in it';
  return `it cannot be read: ${message}`;
}

async function checkEngines(
  kinds: readonly EngineKind[],
  checks: EngineChecks,
  parsed: readonly ParsedAgent[],
  { errors, warnings }: Report,
): Promise<void> {
  for (const [position, agent] of checks.catalog.agents.entries()) {
    const path = [...parsed[position]!.path, 'engine'];
    const kind = kinds.find((candidate) => candidate.kind === agent.engine.kind);
    if (!kind || errors.touches(path)) continue;
    for (const { path: below, message, warning, offset } of await kind.check(agent, checks)) {
      (warning ? warnings : errors).add([...path, ...below], message, offset === undefined ? undefined : { offset });
    }
  }
}

/** Checks the expressions of subscriptions that compile against the declared types. */
function checkSubscriptionTypes(catalog: Catalog, parsed: readonly ParsedAgent[], { errors, warnings }: Report): void {
  for (const [position, { subscriptions }] of catalog.agents.entries()) {
    for (const subscription of subscriptions) {
      const path = [...parsed[position]!.path, 'consumes', subscription.index];
      if (errors.touches([...path, 'types']) || errors.touches([...path, 'mode'])) continue;
      for (const { below, findings } of subscriptionFindings(subscription, catalog, (at) =>
        errors.touches([...path, ...at]),
      ))
        for (const { message, warning, offset } of findings)
          (warning ? warnings : errors).add([...path, ...below], message, { offset });
    }
  }
}

/** Checks the expressions of the agents' rules that compile against the declared types. */
function checkRuleTypes(
  catalog: Catalog,
  parsed: readonly ParsedAgent[],
  limits: Remaining<Record<string, LimitOptions>>,
  { errors, warnings }: Report,
): void {
  for (const [position, agent] of catalog.agents.entries()) {
    const { path, options } = parsed[position]!;
    if (errors.touches([...path, 'consumes'])) continue;
    const rules = [
      { below: ['cancel_on', 'key'], limit: undefined, find: () => cancelKeyFindings(agent, catalog) },
      ...ruleExpressions(options, limits).map((expression) => ({
        ...expression,
        find: () => inputFindings(expression, agent, catalog),
      })),
    ];
    for (const { below, limit, find } of rules) {
      if (errors.touches([...path, ...below.slice(0, 2)]) || (limit && errors.touches(limit.slice(0, 2)))) continue;
      for (const { message, warning, offset } of find())
        (warning ? warnings : errors).add(
          [...path, ...below],
          limit === undefined ? message : `${formatPath(limit)} ${message}`,
          // The text with this offset is elsewhere.
          limit === undefined ? { offset } : undefined,
        );
    }
  }
}

function checkCaches({ agents }: Catalog, parsed: readonly ParsedAgent[], errors: Diagnostics): void {
  for (const [position, { cache, engine }] of agents.entries())
    if (cache && engine.kind === 'external')
      errors.add(
        [...parsed[position]!.path, 'cache'],
        'is for agents whose engine answers; clients answer for external agents',
      );
}

/**
 * Runs only for a valid catalog. In an invalid one it would also warn about the parts that are missing because of it.
 */
function addCatalogWarnings(
  catalog: Catalog,
  declared: readonly string[],
  parsed: readonly ParsedAgent[],
  warnings: Diagnostics,
): void {
  const pathOf = new Map(parsed.map(({ name, path }) => [name, path]));
  for (const { agent, below, message } of [
    ...misspeltTypes(catalog, declared),
    ...triggerWarnings(catalog),
    ...cycleWarnings(catalog),
  ]) {
    warnings.add([...pathOf.get(agent)!, ...below], message);
  }
}
