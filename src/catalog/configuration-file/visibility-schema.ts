import type { JsonObject } from '../../common/json.js';

const names = (description: string): JsonObject => ({
  description,
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  items: { type: 'string', minLength: 1 },
});

const kind = (name: string, fields: JsonObject = {}, required: string[] = []): JsonObject => ({
  if: { properties: { kind: { const: name } } },
  then: { properties: { kind: true, ...fields }, required, additionalProperties: false },
});

const lastingKinds: JsonObject[] = [
  kind('Public'),
  kind('Private', { agents: names('The agents that may see it') }, ['agents']),
  kind('Labelled', { required_labels: names('An agent needs all of these labels to see it') }, ['required_labels']),
  kind('Tenant', { tenant_id: { description: 'The tenant whose agents may see it; null: everyone', type: ['string', 'null'] } }, ['tenant_id']),
];

const kindNamed = (kinds: string[]): JsonObject => ({
  type: 'object',
  required: ['kind'],
  properties: { kind: { enum: kinds } },
});

const LASTING = ['Public', 'Private', 'Labelled', 'Tenant'];

const lastingVisibility: JsonObject = { ...kindNamed(LASTING), allOf: lastingKinds };

/** JSON Schema of the wire's visibility object; whether `ttl` is a duration of fixed length is checked apart from it. */
export const visibilitySchema: JsonObject = {
  ...kindNamed([...LASTING, 'After']),
  allOf: [
    ...lastingKinds,
    kind(
      'After',
      {
        ttl: { description: 'How long it stays hidden from agents: an ISO 8601 duration such as PT1H', type: 'string' },
        then: { description: 'Who may see it after that; everyone where absent', ...lastingVisibility },
      },
      ['ttl'],
    ),
  ],
};
