import type { JsonObject } from '../../common/json.js';

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
    tags: texts('Tags, any of which will do'),
    correlation: { description: 'Only of the same correlation', type: 'boolean', default: false },
    limit: { description: 'Most artifacts, the newest ones', type: 'integer', minimum: 1, maximum: 500, default: DEFAULT_CONTEXT_LIMIT },
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
  },
};
