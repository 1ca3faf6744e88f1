import type { Catalog } from '../../catalog/catalog.js';
import type { EngineChecks, EngineFinding } from '../../catalog/configuration-file/engine-kind.js';
import { type AgentDefinition, OUTSIDE } from '../../catalog/definitions.js';
import { meant } from '../../catalog/unknown-names.js';
import { AddressRules, urlProblem } from '../../http-client/address-rules.js';
import type { Engine, EngineEnvironment, PreparedEngine } from '../engine.js';
import { LlmAgent } from './llm-agent.js';
import {
  BOUND_WITH_BUDGET,
  boundOf,
  type ContextOption,
  isLimited,
  LLM_KIND,
  llmOptionsSchema,
  optionsOf,
  type ToolsOption,
} from './llm-options.js';
import { type LoadModel, loadModel, modelSource, providerProblem } from './model-providers.js';

/** Runs a language model through the AI SDK. */
export class LlmEngine implements Engine {
  readonly kind = LLM_KIND;

  constructor(private readonly load: LoadModel = loadModel) {}

  readonly optionsSchema = llmOptionsSchema;

  async check(agent: AgentDefinition, { baseDirectory, environment, catalog }: EngineChecks): Promise<EngineFinding[]> {
    const { model, base_url, tools = [], context } = optionsOf(agent);
    const source = modelSource(model, base_url, environment);
    const findings: EngineFinding[] = [
      ...sameNames(tools),
      ...refusedAddresses(base_url, tools),
      ...unknownInContext(context, catalog),
    ];
    const problem = await providerProblem(source, baseDirectory);
    if (problem !== null) findings.push({ path: ['model'], message: problem });
    if (agent.outputs.length === 0)
      findings.push({
        path: [],
        message: 'an llm agent must publish at least one type, because the model answers in its schema',
      });
    if (source.needsKey && source.key === undefined) {
      findings.push({
        path: ['model'],
        message: `the environment variable ${source.keyVariable} is not set; set it, or executions fail`,
        warning: true,
      });
    }
    const limitsCost = agent.budget?.cost != null || catalog.budget?.cost != null;
    if (limitsCost && !catalog.models.has(model)) {
      findings.push({
        path: ['model'],
        message: `has no price under models, so cost budgets do not apply to it`,
        warning: true,
      });
    }
    if (isLimited(agent, catalog) && boundOf(agent, catalog) === undefined) {
      const message = `neither models nor the agent sets max_output_tokens, so the budget limits its answers to ${BOUND_WITH_BUDGET} tokens`;
      findings.push({ path: ['model'], message, warning: true });
    }
    return findings;
  }

  async prepare(agent: AgentDefinition, environment: EngineEnvironment): Promise<PreparedEngine> {
    const { model, base_url } = optionsOf(agent);
    const source = modelSource(model, base_url, environment.environment);
    return new LlmAgent(agent, source, environment, this.load);
  }
}

/** Warns about unknown names in a context query: they match nothing, so the model would lack this context. */
function unknownInContext(context: ContextOption | undefined, catalog: Catalog): EngineFinding[] {
  if (typeof context !== 'object') return [];
  const { types = [], produced_by: producers = [] } = context;
  const unknown = (names: string[], key: string, what: string, known: readonly { name: string }[]): EngineFinding[] =>
    names.flatMap((name, index) =>
      known.some((each) => each.name === name)
        ? []
        : [
            {
              path: ['context', key, index],
              message: `no ${what} has the name ${name}, so the context contains none of it${meant(name, known) ?? ''}`,
              warning: true,
            },
          ],
    );
  return [
    ...unknown(types, 'types', 'artifact type', catalog.types),
    ...unknown(producers, 'produced_by', 'agent', [...catalog.agents, ...OUTSIDE.map((each) => ({ name: each }))]),
  ];
}

/** Finds addresses to which no request may go, even if the operator configures them. */
function refusedAddresses(baseUrl: string | undefined, tools: readonly ToolsOption[]): EngineFinding[] {
  const urls = [
    ...(baseUrl === undefined ? [] : [{ path: ['base_url'], url: baseUrl }]),
    ...tools.flatMap(({ mcp }, index) =>
      'url' in mcp ? [{ path: ['tools', index, 'mcp', 'url'], url: mcp.url }] : [],
    ),
  ];
  return urls.flatMap(({ path, url }) => {
    const problem = urlProblem(url, 'operator', new AddressRules());
    return problem === null ? [] : [{ path, message: `must ${problem}` }];
  });
}

/** Finds tool names that occur twice, because the model could not tell such tools apart. */
function sameNames(tools: readonly ToolsOption[]): EngineFinding[] {
  const names = tools.flatMap(({ allow }, index) =>
    allow.map((name, place) => ({ name, path: ['tools', index, 'allow', place] })),
  );
  return names
    .filter(({ name }, index) => names.findIndex((other) => other.name === name) < index)
    .map(({ name, path }) => ({
      path,
      message: `${name} appears twice; tools need different names, because a model knows only their names`,
    }));
}
