import { isJsonObject, type JsonObject } from '../../../common/json.js';
import { unknownFields } from '../../../common/names-in-messages.js';
import { MAX_SHORT_TEXT } from '../../../common/short-text.js';
import { ArtifactBody, PRODUCED_EXAMPLE } from '../../../http/dto/artifact-body.js';
import { PAYLOAD } from '../../../http/dto/payload.js';
import { ApiProperty, schemaPath } from '../../../http/openapi/documentation.js';
import { maxLength, ValidateBy } from '../../../http/validation/class-validator.js';
import { Opaque } from '../../../http/validation/field-rules.js';

const MAX_INPUTS = 1_000;
const FIELDS = ['type', 'payload'];

export class AgentInput {
  @ApiProperty({
    description: 'Name of an artifact type that the agent subscribes to',
    maxLength: MAX_SHORT_TEXT,
    example: 'CustomerMessage',
  })
  type!: string;

  @ApiProperty({ allOf: [{ $ref: schemaPath(PAYLOAD) }], example: { text: 'My card has not arrived yet' } })
  payload!: JsonObject;
}

/** Body of a direct run. */
export class RunAgentRequest {
  @ApiProperty({
    description:
      "Artifacts that fit one of the agent's subscriptions: a single one, one of each type for a join, any number " +
      'for a batch window',
    type: [AgentInput],
    minItems: 1,
    maxItems: MAX_INPUTS,
  })
  @Opaque()
  @ValidateBy({
    name: 'isInputs',
    validator: {
      validate: (value) => inputsProblem(value) === null,
      defaultMessage: (args) => inputsProblem(args?.value) ?? '',
    },
  })
  inputs!: AgentInput[];
}

export const RUN_REQUEST_EXAMPLE = {
  inputs: [{ type: 'CustomerMessage', payload: { text: 'My card has not arrived yet' } }],
};

function inputsProblem(value: unknown): string | null {
  if (!Array.isArray(value)) return 'must be a list of objects with type and payload';
  if (value.length > MAX_INPUTS) return `must not hold more than ${MAX_INPUTS} artifacts`;
  const problems = value.flatMap((input: unknown, index) =>
    inputProblems(input).map((problem) => `[${index}]${problem}`),
  );
  return problems.length > 0 ? problems.join('; inputs: ') : null;
}

function inputProblems(input: unknown): string[] {
  if (!isJsonObject(input)) return [' must be an object with type and payload'];
  const problems: string[] = [];
  if (typeof input['type'] !== 'string') problems.push('.type must be a string');
  else if (!maxLength(input['type'], MAX_SHORT_TEXT))
    problems.push(`.type must be shorter than or equal to ${MAX_SHORT_TEXT} characters`);
  if (!isJsonObject(input['payload'])) problems.push('.payload must be an object');
  const [unknown] = unknownFields(input, FIELDS);
  if (unknown) problems.push(`.${unknown.name} ${unknown.problem}`);
  return problems;
}

export class RunAgentBody {
  @ApiProperty({ type: [ArtifactBody], description: 'The artifacts that the agent published' })
  artifacts!: ArtifactBody[];
}

export const RUN_EXAMPLE = { artifacts: [PRODUCED_EXAMPLE] };
