import type { JsonObject } from '../common/json.js';
import type { BudgetOptions, ConfigurationOptions, Remaining } from './agent-options.js';

/** What models may use in one correlation; null where that is not limited. */
export interface Budget {
  /** Read and written together. */
  tokens: number | null;
  /** In the currency of the prices. */
  cost: number | null;
}

/** In a currency of the configuration's choice, the same for all. */
export interface ModelPrice {
  inputPerMillion: number;
  outputPerMillion: number;
}

export const budgetSchema = (description: string): JsonObject => ({
  description,
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  errorMessage: 'must be an object with tokens, cost or both',
  properties: {
    tokens: { description: 'Read and written by models, together', type: 'integer', minimum: 1 },
    cost: { description: 'In the currency of the prices under models', type: 'number', exclusiveMinimum: 0 },
  },
});

export const modelsSchema: JsonObject = {
  description: 'What models cost, by their names as agents give them, in a currency of your choice',
  type: 'object',
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    required: ['input_per_million', 'output_per_million'],
    properties: {
      input_per_million: { description: 'Of a million tokens that it reads', type: 'number', minimum: 0 },
      output_per_million: { description: 'Of a million tokens that it writes', type: 'number', minimum: 0 },
    },
  },
};

export const defineBudget = (options: Remaining<BudgetOptions> | undefined): Budget | null =>
  options && (options.tokens !== undefined || options.cost !== undefined) ? { tokens: options.tokens ?? null, cost: options.cost ?? null } : null;

export const definePrices = (models: Remaining<NonNullable<ConfigurationOptions['models']>>): ReadonlyMap<string, ModelPrice> =>
  new Map(
    Object.entries(models).map(([name, price]) => [
      name,
      { inputPerMillion: price?.input_per_million ?? 0, outputPerMillion: price?.output_per_million ?? 0 },
    ]),
  );
