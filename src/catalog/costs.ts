import type { JsonObject } from '../common/json.js';
import type { BudgetOptions, ConfigurationOptions, Remaining } from './agent-options.js';

/** Maximum model usage in one correlation. Null means no limit. */
export interface Budget {
  /** Input and output tokens together. */
  tokens: number | null;
  /** In the currency of the prices. */
  cost: number | null;
}

/** Prices and limits of a model. All prices are in one currency, which the configuration's author chooses. */
export interface ModelTerms {
  inputPerMillion: number;
  outputPerMillion: number;
  /** Maximum tokens of one answer. Null if it is not configured. */
  maxOutputTokens: number | null;
}

export const budgetSchema = (description: string): JsonObject => ({
  description,
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  objectMessage: 'must be an object with tokens, cost or both',
  properties: {
    tokens: { description: 'Input and output tokens together', type: 'integer', minimum: 1 },
    cost: { description: 'In the currency of the prices under models', type: 'number', exclusiveMinimum: 0 },
  },
});

export const modelsSchema: JsonObject = {
  description: 'Prices and limits of models, by the names that agents use; prices are in a currency of your choice',
  type: 'object',
  objectMessage: 'must be an object of models by their names, each with input_per_million and output_per_million',
  additionalProperties: {
    type: 'object',
    objectMessage: 'must be an object such as { input_per_million: 0.25, output_per_million: 2 }',
    additionalProperties: false,
    required: ['input_per_million', 'output_per_million'],
    properties: {
      input_per_million: { description: 'Price of a million input tokens', type: 'number', minimum: 0 },
      output_per_million: { description: 'Price of a million output tokens', type: 'number', minimum: 0 },
      max_output_tokens: {
        description:
          'Maximum tokens of one answer; a budget reserves as many for agents that do not set max_output_tokens',
        type: 'integer',
        minimum: 1,
      },
    },
  },
};

export const defineBudget = (options: Remaining<BudgetOptions> | undefined): Budget | null =>
  options && (options.tokens !== undefined || options.cost !== undefined)
    ? { tokens: options.tokens ?? null, cost: options.cost ?? null }
    : null;

export const defineModels = (
  models: Remaining<NonNullable<ConfigurationOptions['models']>>,
): ReadonlyMap<string, ModelTerms> =>
  new Map(
    Object.entries(models).map(([name, terms]) => [
      name,
      {
        inputPerMillion: terms?.input_per_million ?? 0,
        outputPerMillion: terms?.output_per_million ?? 0,
        maxOutputTokens: terms?.max_output_tokens ?? null,
      },
    ]),
  );
