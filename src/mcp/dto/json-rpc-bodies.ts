import { ApiProperty } from '@nestjs/swagger';

const ID = { oneOf: [{ type: 'string' }, { type: 'integer' }], description: 'Of the request, which its answer has too' };

export class JsonRpcMessage {
  @ApiProperty({ enum: ['2.0'] })
  jsonrpc!: '2.0';

  @ApiProperty({ ...ID, required: false })
  id?: string | number;

  @ApiProperty({ description: 'Such as `initialize`, `tools/list` or `tools/call`', example: 'tools/list' })
  method!: string;

  @ApiProperty({ type: 'object', additionalProperties: true, selfRequired: false })
  params?: object;
}

export class JsonRpcAnswer {
  @ApiProperty({ enum: ['2.0'] })
  jsonrpc!: '2.0';

  @ApiProperty(ID)
  id!: string | number;

  @ApiProperty({ type: 'object', additionalProperties: true, selfRequired: false })
  result?: object;

  @ApiProperty({ type: 'object', additionalProperties: true, selfRequired: false, description: 'Where there is no result: what the protocol refuses' })
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
        inputSchema: { type: 'object', properties: { artifact_id: { type: 'string', description: 'Its id' } }, required: ['artifact_id'], additionalProperties: false },
        annotations: { readOnlyHint: true },
      },
    ],
  },
};
