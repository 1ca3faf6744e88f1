import { applyDecorators } from '@nestjs/common';

import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json.js';
import { MAX_SHORT_TEXT } from '../../../common/short-text.js';
import { ApiForm, namedSchema, SchemaPart } from '../../../http/openapi/additions.js';
import { ApiBody, ApiExtraModels, ApiProperty, schemaPath } from '../../../http/openapi/documentation.js';
import {
  IsBoolean,
  IsInt,
  IsObject,
  IsString,
  Max,
  MaxLength,
  Min,
  ValidateBy,
} from '../../../http/validation/class-validator.js';
import { IfGiven, IgnoresUnknownFields, Opaque } from '../../../http/validation/field-rules.js';

export const DEFAULT_WORKERS = 5;

/** Checks the form alone. Whether the file exists is checked when the batch is created. */
const CSV_PATH_PATTERN = '^[^\\u0000]+\\.([cC][sS][vV]|[tT][sS][vV]|[tT][xX][tT])$';

export const MOST_ITEMS = 100_000;
const MOST_WORKERS = 1_000;

const DELIMITER = /^[^"\r\n\u0000]$/u;

function delimiterProblem(value: unknown): string | null {
  if (typeof value !== 'string' || [...value].length !== 1) return 'must be exactly one character';
  return DELIMITER.test(value) ? null : 'must not be a quote, a line break or NUL';
}

const MOST_NAMES = 1_000;
const LONGEST_NAME = 255;

function mappingProblem(value: unknown): string | null {
  if (!isJsonObject(value) || !Object.values(value).every((name) => typeof name === 'string'))
    return 'must be an object whose values are strings';
  const names = Object.values(value) as string[];
  if (names.length > MOST_NAMES) return `must not have more than ${MOST_NAMES} names`;
  if (names.includes('')) return 'must not have an empty name';
  return names.some(isLong) ? `must not have a name longer than ${LONGEST_NAME} characters` : null;
}

// The name is cut first, so that a name of a megabyte is not split into characters.
const isLong = (name: string): boolean => [...name.slice(0, 2 * LONGEST_NAME + 1)].length > LONGEST_NAME;

/** The options of a batch, which are the field `request` of an upload. */
@SchemaPart({ not: { required: ['batch_inputs'], properties: { batch_inputs: {} } } })
@IgnoresUnknownFields()
export class UploadedBatchRequest {
  @ApiProperty({
    description: 'Name of the agent that each run starts with',
    maxLength: MAX_SHORT_TEXT,
    example: 'classifier',
  })
  @IsString()
  @MaxLength(MAX_SHORT_TEXT)
  agent_name!: string;

  @ApiProperty({
    description:
      "Inputs of every run, up to 64 KiB of JSON; an item's value wins. The inputs of all rows together may take 64 " +
      'MiB, plus 8 times the size of a list or 32 times the size of a CSV',
    type: 'object',
    additionalProperties: true,
    selfRequired: false,
    example: {},
  })
  @IfGiven()
  @IsObject()
  @Opaque()
  static_inputs?: JsonObject;

  @ApiProperty({
    description: 'Maps a column or key to an input name; others are dropped. Input names must be unique',
    type: 'object',
    additionalProperties: { type: 'string', minLength: 1, maxLength: LONGEST_NAME },
    maxProperties: MOST_NAMES,
    selfRequired: false,
    example: { text: 'text' },
  })
  @IfGiven()
  @Opaque()
  @ValidateBy({
    name: 'isMapping',
    validator: {
      validate: (value) => mappingProblem(value) === null,
      defaultMessage: (args) => mappingProblem(args?.value) ?? '',
    },
  })
  input_mapping?: Record<string, string>;

  @ApiProperty({
    description: 'False runs one item at a time, in order',
    type: Boolean,
    required: false,
    default: true,
    example: true,
  })
  @IfGiven()
  @IsBoolean()
  parallel?: boolean;

  @ApiProperty({
    description: 'Maximum number of simultaneous runs',
    type: 'integer',
    required: false,
    minimum: 1,
    maximum: MOST_WORKERS,
    default: DEFAULT_WORKERS,
    example: 5,
  })
  @IfGiven()
  @IsInt()
  @Min(1)
  @Max(MOST_WORKERS)
  max_workers?: number;

  @ApiProperty({
    description: 'Character between the fields of a CSV line; not a quote, a line break or NUL',
    type: String,
    required: false,
    default: ',',
    minLength: 1,
    maxLength: 1,
    pattern: DELIMITER.source,
    example: ',',
  })
  @IfGiven()
  @ValidateBy({
    name: 'isDelimiter',
    validator: {
      validate: (value) => delimiterProblem(value) === null,
      defaultMessage: (args) => delimiterProblem(args?.value) ?? '',
    },
  })
  delimiter?: string;

  @ApiProperty({
    description: 'A column or key; of rows with an equal value only the first runs, and the others repeat its result',
    type: String,
    required: false,
    maxLength: MAX_SHORT_TEXT,
    example: 'text',
  })
  @IfGiven()
  @IsString()
  @MaxLength(MAX_SHORT_TEXT)
  row_key?: string;
}

/** Body of a batch over a list, in the OpenAPI document. */
export class ItemsBatchRequest extends UploadedBatchRequest {
  @ApiProperty({
    description: 'A list of objects of up to 1 MiB (`body_limit`), one for each run',
    type: 'array',
    minItems: 1,
    maxItems: MOST_ITEMS,
    items: { type: 'object', additionalProperties: true },
    example: [{ text: 'My card has not arrived yet' }],
  })
  batch_inputs!: JsonObject[];
}

/** Body of a batch over a file on the server, in the OpenAPI document. */
export class CsvBatchRequest extends UploadedBatchRequest {
  @ApiProperty({
    description: 'Path of a .csv, .tsv or .txt file in the folder `csv_root`',
    pattern: CSV_PATH_PATTERN,
    example: 'messages.csv',
  })
  batch_inputs!: string;
}

/** Body of a batch. With an upload it has no `batch_inputs`. */
export class BatchRequest extends UploadedBatchRequest {
  @IfGiven()
  @Opaque()
  @ValidateBy({
    name: 'isBatchInputs',
    validator: {
      validate: (value) => typeof value === 'string' || Array.isArray(value),
      defaultMessage: () => 'must be a list of objects, or the path of a CSV file',
    },
  })
  batch_inputs?: JsonValue[] | string;
}

export const BATCH_REQUEST_EXAMPLES = {
  list: {
    value: {
      agent_name: 'classifier',
      batch_inputs: [{ text: 'My card has not arrived yet' }, { text: 'Please cancel my transfer' }],
    },
  },
};

/** Documents the JSON bodies of a batch, and the form of one with an uploaded file. */
export const ApiBatch = (): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(ItemsBatchRequest, CsvBatchRequest, UploadedBatchRequest),
    ApiBody({
      schema: namedSchema('BatchRequest', {
        anyOf: [ItemsBatchRequest, CsvBatchRequest].map((body) => ({ $ref: schemaPath(body) })),
      }),
      examples: BATCH_REQUEST_EXAMPLES,
    }),
    ApiForm({
      schema: {
        type: 'object',
        required: ['file', 'request'],
        properties: {
          file: {
            type: 'string',
            format: 'binary',
            description: 'The CSV file: UTF-8, with a header and at least one row, at most 1 GiB',
          },
          request: { description: 'JSON of at most 1 MiB', allOf: [{ $ref: schemaPath(UploadedBatchRequest) }] },
        },
        additionalProperties: false,
      },
      encoding: { file: { contentType: 'text/csv' }, request: { contentType: 'application/json' } },
    }),
  );
