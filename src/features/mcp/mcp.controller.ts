import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';

import {
  ApiAcceptedResponse,
  ApiBody,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '../../http/openapi/documentation.js';
import {
  ANSWER_EXAMPLE,
  ApiProtocolVersion,
  JsonRpcAnswer,
  JsonRpcMessage,
  MESSAGE_EXAMPLE,
} from './dto/json-rpc-bodies.js';
import { McpService } from './mcp.service.js';

/**
 * With GET a client asks for a stream. A server without streams answers 405 (MCP specification, section Streamable
 * HTTP), as every path does for an unknown method.
 */
@ApiTags('MCP')
@Controller('mcp')
export class McpController {
  constructor(private readonly mcp: McpService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Send a message to the MCP server',
    description:
      'Implements Streamable HTTP of the Model Context Protocol, without sessions. The body is one JSON-RPC message, ' +
      'the answer is JSON. Errors of tools are in their results.',
  })
  @ApiProtocolVersion()
  @ApiBody({ type: JsonRpcMessage, examples: { tools: { value: MESSAGE_EXAMPLE } } })
  @ApiOkResponse({ type: JsonRpcAnswer, description: 'The response to a request', example: ANSWER_EXAMPLE })
  @ApiAcceptedResponse({ description: 'The message is a notification and gets no response' })
  receive(
    @Body() message: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object | undefined> {
    return this.mcp.receive(message, request, response);
  }
}
