import type { JsonObject } from '../../common/json.js';
import { MAX_SHORT_TEXT } from '../../common/short-text.js';
import { MAX_VISIBILITY_NAMES } from '../parse-visibility.js';

const shortText: JsonObject = { type: 'string', minLength: 1, maxLength: MAX_SHORT_TEXT };

const names = (description: string, minItems: number): JsonObject => ({
  description,
  type: 'array',
  minItems,
  maxItems: MAX_VISIBILITY_NAMES,
  items: shortText,
});

const kind = (name: string, fields: JsonObject = {}, required: string[] = []): JsonObject => ({
  if: { properties: { kind: { const: name } } },
  then: { properties: { kind: true, ...fields }, required, additionalProperties: false },
});

const lastingKinds: JsonObject[] = [
  kind('Public'),
  kind('Private', { agents: names('The agents that may see it; an empty list: no agent', 0) }, ['agents']),
  kind('Labelled', { required_labels: names('An agent needs all of these labels to see it', 1) }, ['required_labels']),
  kind(
    'Tenant',
    {
      tenant_id: {
        description: 'The tenant whose agents may see it; null: all agents',
        ...shortText,
        type: ['string', 'null'],
      },
    },
    ['tenant_id'],
  ),
];

const kindNamed = (kinds: string[]): JsonObject => ({
  type: 'object',
  required: ['kind'],
  properties: { kind: { enum: kinds } },
});

const LASTING = ['Public', 'Private', 'Labelled', 'Tenant'];

/** The checks of `parse-visibility.ts` as JSON Schema, for editors. It does not check whether `ttl` is a duration. */
export const visibilitySchema: JsonObject = {
  ...kindNamed([...LASTING, 'After']),
  allOf: [
    ...lastingKinds,
    kind(
      'After',
      {
        ttl: { description: 'How long it is hidden from agents: a duration such as 1h or PT1H', type: 'string' },
        then: {
          description: 'Which agents may see it after that; default: all',
          if: { not: { type: 'null' } },
          then: { ...kindNamed(LASTING), allOf: lastingKinds },
        },
      },
      ['ttl'],
    ),
  ],
};
