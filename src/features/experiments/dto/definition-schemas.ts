import { LONGEST_CONFIGURATION_NAME } from '../../../config/setting-types.js';
import { OVERRIDE_SCHEMA } from '../../../http/dto/override-schema.js';
import { SHORT_TEXT_SCHEMA } from '../../../http/validation/text-rules.js';
import { SCORER_KINDS } from '../definition.js';
import { JSON_POINTER } from '../json-pointer.js';

// They describe the request in the OpenAPI document, and are what it is checked with.

export const MOST_ROWS = 10_000;
/** Rows times variants. */
export const MOST_TRIALS = 20_000;
export const VARIANTS = { min: 2, most: 8 } as const;
export const MOST_SCORERS = 8;
const MOST_TAGS = 20;
const LONGEST_EXPRESSION = 16_384;
const MOST_OVERRIDDEN = 50;

const POINTER = { type: 'string', maxLength: 1_000, pattern: JSON_POINTER } as const;
const TIME = { type: 'string', maxLength: 64 } as const;

/** Without the rule that it has one kind of rows, for which the service has a better message. */
export const DATA_FIELDS = {
  type: 'object',
  description: 'The rows: one of `csv`, `batch`, `artifacts` and `correlations`',
  additionalProperties: false,
  properties: {
    csv: {
      type: 'string',
      minLength: 1,
      description: 'A CSV with a header. Its columns are inputs of a run of `agent`, except the column of `expected`',
    },
    agent: { ...SHORT_TEXT_SCHEMA, description: 'Only with `csv`: the agent that each row is run with' },
    delimiter: {
      type: 'string',
      minLength: 1,
      maxLength: 1,
      pattern: '^[^"\\r\\n\\u0000]$',
      description: 'Only with `csv`: the character between two cells, a comma if absent',
    },
    batch: { ...SHORT_TEXT_SCHEMA, description: 'Id of a batch that has ended. Its runs are replayed' },
    artifacts: {
      type: 'object',
      description: 'The artifacts of clients that match all conditions, oldest first. Each is replayed alone',
      required: ['type'],
      additionalProperties: false,
      properties: {
        type: { ...SHORT_TEXT_SCHEMA, description: 'Name of their type' },
        tags: { type: 'array', maxItems: MOST_TAGS, items: SHORT_TEXT_SCHEMA, description: 'They have all of these' },
        from: { ...TIME, description: 'Created at this time or later: ISO 8601, UTC if no time zone is given' },
        to: { ...TIME, description: 'Created at this time or earlier' },
      },
    },
    correlations: {
      type: 'array',
      minItems: 1,
      maxItems: MOST_ROWS,
      items: SHORT_TEXT_SCHEMA,
      description: 'Ids of correlations that have ended, each of them once. They are replayed',
    },
    limit: { type: 'integer', minimum: 1, maximum: MOST_ROWS, description: 'Only the first rows' },
  },
} as const;

export const DATA_SCHEMA = {
  ...DATA_FIELDS,
  oneOf: [
    { required: ['batch'] },
    { required: ['csv', 'agent'] },
    { required: ['artifacts'] },
    { required: ['correlations'] },
  ],
} as const;

export const EXPECTED_SCHEMA = {
  type: 'object',
  description: 'Where the expected value of each row is: one of these',
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
  properties: {
    column: { ...SHORT_TEXT_SCHEMA, description: 'A column of the CSV; its cells are texts' },
    path: { ...POINTER, description: 'JSON Pointer into the input; `""` is all of it' },
    recorded: { type: 'boolean', enum: [true], description: 'The output of the original, for rows that are replayed' },
  },
} as const;

export const VARIANT_SCHEMA = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: SHORT_TEXT_SCHEMA,
    agent: { ...SHORT_TEXT_SCHEMA, description: 'Only with `csv`: the agent that runs the rows in this variant' },
    configuration: {
      type: 'string',
      minLength: 1,
      maxLength: LONGEST_CONFIGURATION_NAME,
      description: 'Name of a configuration that the operator gave at the start, as in a replay',
    },
    overrides: {
      type: 'object',
      maxProperties: MOST_OVERRIDDEN,
      additionalProperties: OVERRIDE_SCHEMA,
      description: 'Changes of its agents, by their names, as in a replay. At most 32 KiB of JSON',
    },
  },
} as const;

export const SCORER_SCHEMA = {
  type: 'object',
  required: ['name', 'kind'],
  additionalProperties: false,
  properties: {
    name: SHORT_TEXT_SCHEMA,
    kind: {
      type: 'string',
      enum: [...SCORER_KINDS],
      description:
        '`latency` is the duration in milliseconds, `cost` that of the models. `equals` and `contains` compare the ' +
        'output with the expected value, and score 0 or 1. `cel` evaluates an expression. `judge` asks an agent',
    },
    path: {
      ...POINTER,
      description:
        'JSON Pointer into the output for `equals` and `contains` (`""`, all of it, if absent), with `recorded` also into ' +
        'the expected one, and to the score in what a judge publishes (`/score` if absent)',
    },
    expression: {
      type: 'string',
      minLength: 1,
      maxLength: LONGEST_EXPRESSION,
      description: 'Only with `cel`: makes a number or a boolean of `input`, `output` and `expected`',
    },
    agent: {
      ...SHORT_TEXT_SCHEMA,
      description: 'Only with `judge`: an agent that takes one artifact with `input`, `output` and `expected`',
    },
  },
} as const;
