/** The schema of the overrides of one agent, in the OpenAPI document. */
export const OVERRIDE_SCHEMA = {
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  properties: {
    expression: { type: 'string', minLength: 1 },
    instructions: { type: 'string', minLength: 1 },
    temperature: { type: 'number', minimum: 0, maximum: 2 },
    max_output_tokens: { type: 'integer', minimum: 1 },
    model: { type: 'string', description: 'A model that the configuration names' },
  },
} as const;

export const OVERRIDES_EXAMPLE = { responder: { instructions: 'Answer in one sentence', temperature: 0 } };
