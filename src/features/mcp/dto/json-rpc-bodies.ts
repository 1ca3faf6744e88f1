import { namedSchema } from '../../../http/openapi/additions.js';
import { ApiHeader, ApiProperty } from '../../../http/openapi/documentation.js';

const WHOLE_NUMBER = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER } as const;

const TEXT_ID = namedSchema('JsonRpcTextId', { type: 'string' });
const NUMBER_ID = namedSchema('JsonRpcNumberId', WHOLE_NUMBER);
const ID_SCHEMA = namedSchema('JsonRpcId', { oneOf: [TEXT_ID, NUMBER_ID] });

const ID = { allOf: [ID_SCHEMA], description: 'Id of the request, which the response repeats' };

const META = {
  type: 'object',
  properties: {
    progressToken: ID_SCHEMA,
    'io.modelcontextprotocol/related-task': {
      type: 'object',
      required: ['taskId'],
      properties: { taskId: { type: 'string' } },
    },
  },
  additionalProperties: true,
} as const;

/**
 * The versions that the SDK supports. A copy, because the SDK is loaded with the first message only; a test compares
 * them.
 */
const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

export const ApiProtocolVersion = (): MethodDecorator =>
  ApiHeader({
    name: 'Mcp-Protocol-Version',
    required: false,
    description: 'The protocol version that client and server have negotiated',
    schema: { type: 'string', enum: PROTOCOL_VERSIONS, example: PROTOCOL_VERSIONS[0] },
  });

export class JsonRpcMessage {
  @ApiProperty({ enum: ['2.0'] })
  jsonrpc!: '2.0';

  @ApiProperty({ ...ID, required: false })
  id?: string | number;

  @ApiProperty({
    description: 'Name of the method, such as `initialize`, `tools/list` or `tools/call`',
    example: 'tools/list',
  })
  method!: string;

  @ApiProperty({
    type: 'object',
    properties: { _meta: META },
    additionalProperties: true,
    selfRequired: false,
  } as never)
  params?: object;
}

export class JsonRpcAnswer {
  @ApiProperty({ enum: ['2.0'] })
  jsonrpc!: '2.0';

  @ApiProperty(ID)
  id!: string | number;

  @ApiProperty({ type: 'object', additionalProperties: true, selfRequired: false })
  result?: object;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    selfRequired: false,
    description: 'Error of the protocol; given instead of `result`',
  })
  error?: object;
}

export const MESSAGE_EXAMPLE = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

export const ANSWER_EXAMPLE = {
  jsonrpc: '2.0',
  id: 1,
  result: {
    tools: [
      {
        name: 'get_artifact',
        description: 'Get an artifact.',
        inputSchema: {
          type: 'object',
          properties: { artifact_id: { type: 'string', description: 'Its id' } },
          required: ['artifact_id'],
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true },
      },
    ],
  },
};
