import { applyDecorators } from '@nestjs/common';

import { MAX_OUTPUTS, MAX_TAGS } from '../../../blackboard/execution/outputs.js';
import type { JsonValue } from '../../../common/json.js';
import { MAX_SHORT_TEXT } from '../../../common/short-text.js';
import { ApiVisibility } from '../../../http/dto/api-visibility.js';
import { PAYLOAD } from '../../../http/dto/payload.js';
import { namedSchema } from '../../../http/openapi/additions.js';
import { ApiBody, ApiExtraModels, ApiProperty, schemaPath } from '../../../http/openapi/documentation.js';
import {
  IsArray,
  IsBoolean,
  IsString,
  MaxLength,
  MinLength,
  ValidateBy,
} from '../../../http/validation/class-validator.js';
import { IfGiven, Opaque } from '../../../http/validation/field-rules.js';
import { SHORT_TEXT_SCHEMA } from '../../../http/validation/text-rules.js';

const LONGEST_ERROR_TYPE = 100;
const LONGEST_ERROR_MESSAGE = 2_000;

export const LEASE_TOKEN_EXAMPLE = 'OUQgrXPfWWJ--0SDVt-H0cWXjEYFAwf6-rpX_e6P4r8';

/** Body of a heartbeat. */
export class LeaseRequest {
  @ApiProperty({
    description: 'The token from the claim, or from the request to a remote agent that answers later',
    maxLength: MAX_SHORT_TEXT,
    example: LEASE_TOKEN_EXAMPLE,
  })
  @IsString()
  @MaxLength(MAX_SHORT_TEXT)
  lease_token!: string;
}

/** One output of a completed execution. The outputs module checks its fields, as it checks the answer of any agent. */
export class OutputBody {
  @ApiProperty({
    description: 'One of the types that the agent publishes',
    maxLength: MAX_SHORT_TEXT,
    example: 'Approval',
  })
  type!: string;

  @ApiProperty({
    description: 'Must match the JSON Schema of the type',
    allOf: [{ $ref: schemaPath(PAYLOAD) }],
    example: { approved: true },
  })
  payload!: object;

  @ApiProperty({
    description: "Tags, in addition to those of the agent's configuration",
    type: 'array',
    items: SHORT_TEXT_SCHEMA,
    required: false,
    maxItems: MAX_TAGS,
    example: ['checked'],
  })
  tags?: string[];

  @ApiVisibility({
    description: "Visibility, as in a publish; overrides that of the agent's configuration",
    required: false,
  })
  visibility?: object;
}

/** Validates that exactly one of the two fields is given. */
const OneOfBoth = (): PropertyDecorator =>
  ValidateBy({
    name: 'isOneOfBoth',
    validator: {
      validate: (_value, args) => {
        const { outputs, output } = args!.object as CompleteRequest;
        return (outputs === undefined) !== (output === undefined);
      },
      defaultMessage: () => 'give either outputs or output',
    },
  });

/** Body of a completion with `outputs`, in the OpenAPI document. */
export class CompleteWithOutputs extends LeaseRequest {
  @ApiProperty({
    description: 'Artifacts to publish; an empty list publishes nothing',
    type: [OutputBody],
    maxItems: MAX_OUTPUTS,
  })
  outputs!: OutputBody[];
}

const ONE_PAYLOAD = { type: 'object', additionalProperties: true } as const;

/** Body of a completion with one payload or none, in the OpenAPI document. */
export class CompleteWithOutput extends LeaseRequest {
  @ApiProperty({
    description:
      'The short form instead of `outputs`. An agent with one type: its payload. An agent with several types: an ' +
      'object keyed by type name. Null publishes nothing',
    ...ONE_PAYLOAD,
    nullable: true,
    example: { approved: true },
  })
  output!: object | null;
}

/** Body of a completion with several payloads of one type, in the OpenAPI document. */
export class CompleteWithPayloads extends LeaseRequest {
  @ApiProperty({
    description: 'The short form instead of `outputs`, for an agent with one type: a list of its payloads',
    type: 'array',
    maxItems: MAX_OUTPUTS,
    items: ONE_PAYLOAD,
    example: [{ approved: true }],
  })
  output!: object[];
}

const COMPLETIONS = [CompleteWithOutputs, CompleteWithOutput, CompleteWithPayloads];

/** Body of a completion: `outputs` or `output`. */
export class CompleteRequest extends LeaseRequest {
  @IfGiven()
  @IsArray()
  @Opaque()
  outputs?: unknown[];

  @Opaque()
  @OneOfBoth()
  output?: JsonValue;
}

/** Documents the body of a completion. A generator makes one type of each of its forms. */
export const ApiCompletion = (): MethodDecorator =>
  applyDecorators(
    ApiExtraModels(...COMPLETIONS),
    ApiBody({
      schema: namedSchema('CompleteRequest', {
        oneOf: COMPLETIONS.map((body) => ({ $ref: schemaPath(body) })),
      }),
      examples: { complete: { value: COMPLETE_EXAMPLE } },
    }),
  );

export const COMPLETE_EXAMPLE = {
  lease_token: LEASE_TOKEN_EXAMPLE,
  outputs: [{ type: 'Approval', payload: { approved: true } }],
};

/** Body of a failure. */
export class FailRequest extends LeaseRequest {
  @ApiProperty({
    description: 'Reason of the failure, for people',
    minLength: 1,
    maxLength: LONGEST_ERROR_MESSAGE,
    example: 'the order cannot be found',
  })
  @IsString()
  @MinLength(1)
  @MaxLength(LONGEST_ERROR_MESSAGE)
  error_message!: string;

  @ApiProperty({
    description: 'Type of the error, for programs',
    type: String,
    required: false,
    minLength: 1,
    maxLength: LONGEST_ERROR_TYPE,
    default: 'Error',
    example: 'OrderMissing',
  })
  @IfGiven()
  @IsString()
  @MinLength(1)
  @MaxLength(LONGEST_ERROR_TYPE)
  error_type?: string;

  @ApiProperty({
    description: 'Whether this is the last attempt, regardless of the `retry` of the agent',
    type: Boolean,
    required: false,
    default: false,
    example: false,
  })
  @IfGiven()
  @IsBoolean()
  final?: boolean;
}

export const FAIL_EXAMPLE = {
  lease_token: LEASE_TOKEN_EXAMPLE,
  error_message: 'the order cannot be found',
  error_type: 'OrderMissing',
};
