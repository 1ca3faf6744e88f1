import type { JsonObject } from '../../common/json.js';
import type { ToolServerOptions } from './tools/tool-server.js';

/** An llm agent's `engine` object. */
export interface LlmOptions {
  kind: 'llm';
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
  /** Their names; the model is told of no other. */
  allow: string[];
}

export type ContextOption = 'none' | 'correlation' | ContextQuery;

/** Which earlier artifacts go into the prompt; whatever is absent asks for nothing. */
export interface ContextQuery {
  types?: string[];
  produced_by?: string[];
  tags?: string[];
  /** True keeps to the correlation of the execution. */
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
    types: texts('Artifact types, any of which will do'),
    produced_by: texts('Producers, any of which will do; external is what clients publish'),
    tags: texts('Tags, all of which an artifact has'),
    correlation: { description: 'Only of the same correlation', type: 'boolean', default: false },
    limit: { description: 'Most artifacts, the newest ones', type: 'integer', minimum: 1, maximum: 500, default: DEFAULT_CONTEXT_LIMIT },
  },
};

const textMap = (description: string): JsonObject => ({ description, type: 'object', additionalProperties: { type: 'string' } });

const toolsSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['mcp', 'allow'],
  errorMessage: 'must be an object such as { mcp: { command: my-tools }, allow: [lookup] }',
  properties: {
    mcp: {
      description: 'An MCP server: a program that speaks over its standard input and output, or a URL that serves Streamable HTTP',
      type: 'object',
      oneOf: [{ required: ['command'] }, { required: ['url'] }],
      errorMessage: 'must be an object with either command or url',
      additionalProperties: false,
      properties: {
        command: { description: 'Run in the folder of this file', type: 'string', minLength: 1 },
        args: { type: 'array', items: { type: 'string' } },
        env: textMap('Environment of the program, beside what every program needs; give secrets as ${NAME}'),
        url: { type: 'string', pattern: '^https?://[^@\\s]+$', errorMessage: 'must be an http or https URL without a user' },
        headers: textMap('Sent with every request to the URL; give secrets as ${NAME}'),
      },
    },
    allow: texts('Names of the tools that the model may use'),
  },
};

export const llmOptionsSchema: JsonObject = {
  description: 'A language model that gets instructions and the input artifacts, and answers in the schema of what the agent publishes',
  type: 'object',
  additionalProperties: false,
  required: ['kind', 'model', 'instructions'],
  properties: {
    kind: { const: 'llm' },
    model: {
      description: 'Provider and model, such as openai/gpt-5-mini, anthropic/claude-sonnet-4-5, google/gemini-2.5-flash, or with base_url any name before the slash',
      type: 'string',
      pattern: '^[A-Za-z][A-Za-z0-9-]*/\\S+$',
      errorMessage: 'must name provider and model, such as openai/gpt-5-mini',
    },
    instructions: { description: 'What the model is to do; nothing else instructs it', type: 'string', minLength: 1 },
    base_url: {
      description: 'Where the model is served: an OpenAI-compatible server such as Ollama, vLLM or LM Studio, or another address of the provider',
      type: 'string',
      pattern: '^https?://[^@\\s]+$',
      errorMessage: 'must be an http or https URL without a user, such as http://127.0.0.1:11434/v1',
    },
    temperature: { description: "The provider's default where absent", type: 'number', minimum: 0, maximum: 2 },
    max_output_tokens: { description: 'Of one answer; the provider\'s default where absent', type: 'integer', minimum: 1 },
    context: {
      description: 'Earlier artifacts that the agent may see, for the model to read: none, those of the correlation, or what a query finds',
      default: 'none',
      if: { type: 'string' },
      then: { enum: ['none', 'correlation'] },
      else: { errorMessage: 'must be none, correlation, or a query such as { types: [Reply] }', ...querySchema },
    },
    context_tokens: {
      description: 'Room for them, the newest first, in tokens as they are estimated (three bytes each)',
      type: 'integer',
      minimum: 1,
      default: DEFAULT_CONTEXT_TOKENS,
    },
    tools: { description: 'What the model may use before it answers', type: 'array', items: toolsSchema },
    max_steps: { description: 'Calls of the model in one answer, each but the last followed by calls of tools', type: 'integer', minimum: 1, maximum: 100, default: DEFAULT_MAX_STEPS },
  },
};
