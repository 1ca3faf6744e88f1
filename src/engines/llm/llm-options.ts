import type { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import type { JsonObject } from '../../common/json.js';
import type { ToolServerOptions } from './tools/tool-server.js';

export const LLM_KIND = 'llm';

/** An llm agent's `engine` object. */
export interface LlmOptions {
  kind: typeof LLM_KIND;
  /** Provider and model, such as `openai/gpt-5-mini`. */
  model: string;
  instructions: string;
  base_url?: string;
  temperature?: number;
  max_output_tokens?: number;
  context?: ContextOption;
  context_tokens?: number;
  tools?: ToolsOption[];
  max_steps?: number;
}

/** Some of the tools of an MCP server. */
export interface ToolsOption {
  mcp: ToolServerOptions;
  /** Names of the tools. The model does not learn of others. */
  allow: string[];
}

export type ContextOption = 'none' | 'correlation' | ContextQuery;

/** Which earlier artifacts the prompt contains. An absent field sets no condition. */
export interface ContextQuery {
  types?: string[];
  produced_by?: string[];
  tags?: string[];
  /** If true, only artifacts of the execution's correlation. */
  correlation?: boolean;
  limit?: number;
}

export const DEFAULT_CONTEXT_TOKENS = 4_000;
export const DEFAULT_CONTEXT_LIMIT = 50;
export const DEFAULT_MAX_STEPS = 5;

const texts = (description: string): JsonObject => ({
  description,
  type: 'array',
  minItems: 1,
  items: { type: 'string', minLength: 1 },
  errorMessage: 'must be a list of one or more texts, such as [one, two]',
});

const querySchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  properties: {
    types: texts('Artifacts with any of these types'),
    produced_by: texts('Artifacts by any of these producers; external means clients'),
    tags: texts('Artifacts that have all of these tags'),
    correlation: { description: 'Only artifacts of the same correlation', type: 'boolean', default: false },
    limit: {
      description: 'Maximum number of artifacts; the newest are taken',
      type: 'integer',
      minimum: 1,
      maximum: 500,
      default: DEFAULT_CONTEXT_LIMIT,
    },
  },
};

const textMap = (description: string): JsonObject => ({
  description,
  type: 'object',
  additionalProperties: { type: 'string' },
});

const toolsSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['mcp', 'allow'],
  objectMessage: 'must be an object such as { mcp: { command: my-tools }, allow: [lookup] }',
  properties: {
    mcp: {
      description:
        'An MCP server: a program that speaks over its standard input and output, or a URL that serves Streamable HTTP',
      type: 'object',
      oneOf: [{ required: ['command'] }, { required: ['url'] }],
      objectMessage: 'must be an object with either command or url',
      additionalProperties: false,
      properties: {
        command: { description: 'The program; it runs in the folder of this file', type: 'string', minLength: 1 },
        args: { type: 'array', items: { type: 'string' } },
        env: textMap('Environment variables of the program, in addition to the basic ones; set secrets as ${NAME}'),
        url: {
          type: 'string',
          pattern: '^https?://[^@\\s]+$',
          errorMessage: 'must be an http or https URL without a user',
        },
        headers: textMap('Sent with every request to the URL; set secrets as ${NAME}'),
      },
    },
    allow: texts('Names of the tools that the model may use'),
  },
};

export const llmOptionsSchema: JsonObject = {
  description:
    'A language model that gets instructions and the input artifacts, and answers in the schema of what the agent publishes',
  type: 'object',
  additionalProperties: false,
  required: ['kind', 'model', 'instructions'],
  properties: {
    kind: { const: LLM_KIND },
    model: {
      description:
        'Provider and model, such as openai/gpt-5-mini, anthropic/claude-sonnet-4-5, google/gemini-2.5-flash, or with base_url any name before the slash',
      type: 'string',
      pattern: '^[A-Za-z][A-Za-z0-9-]*/\\S+$',
      errorMessage: 'must name provider and model, such as openai/gpt-5-mini',
    },
    instructions: { description: 'Instructions for the model; it gets no others', type: 'string', minLength: 1 },
    base_url: {
      description:
        'URL of the model server: an OpenAI-compatible server such as Ollama, vLLM or LM Studio, or another address of the provider',
      type: 'string',
      pattern: '^https?://[^@\\s]+$',
      errorMessage: 'must be an http or https URL without a user, such as http://127.0.0.1:11434/v1',
    },
    temperature: { description: "Default: the provider's", type: 'number', minimum: 0, maximum: 2 },
    max_output_tokens: {
      description: "Maximum length of one answer in tokens; default: the provider's",
      type: 'integer',
      minimum: 1,
    },
    context: {
      description:
        'Earlier artifacts for the model to read, if the agent may see them: none, those of the correlation, or the result of a query',
      default: 'none',
      if: { type: 'string' },
      then: { enum: ['none', 'correlation'] },
      else: { objectMessage: 'must be none, correlation, or a query such as { types: [Reply] }', ...querySchema },
    },
    context_tokens: {
      description:
        'Maximum size of the context in estimated tokens (three bytes each); the newest artifacts come first',
      type: 'integer',
      minimum: 1,
      default: DEFAULT_CONTEXT_TOKENS,
    },
    tools: { description: 'Tools that the model may use before it answers', type: 'array', items: toolsSchema },
    max_steps: {
      description: 'Maximum number of model calls for one answer; tool calls follow each but the last',
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: DEFAULT_MAX_STEPS,
    },
  },
};

/**
 * Output tokens of one answer if a budget applies and the configuration sets no limit: without a limit, no reservation
 * could be correct. Current models support that many.
 */
export const BOUND_WITH_BUDGET = 4_096;

/** True if a budget applies to the agent. */
export const isLimited = (agent: AgentDefinition, catalog: Catalog): boolean =>
  agent.budget !== null || catalog.budget !== null;

/** The configured limit on the tokens of one answer, or undefined. */
export const boundOf = (agent: AgentDefinition, { models }: Catalog): number | undefined =>
  optionsOf(agent).max_output_tokens ?? models.get(optionsOf(agent).model)?.maxOutputTokens ?? undefined;

export const optionsOf = ({ engine }: Pick<AgentDefinition, 'engine'>): LlmOptions => engine as unknown as LlmOptions;

/** The model of an llm agent; null for any other agent. */
export const modelOf = (agent: AgentDefinition): string | null =>
  agent.engine.kind === LLM_KIND ? optionsOf(agent).model : null;
