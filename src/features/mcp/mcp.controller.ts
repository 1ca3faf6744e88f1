import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ANSWER_EXAMPLE, ApiProtocolVersion, JsonRpcAnswer, JsonRpcMessage, MESSAGE_EXAMPLE } from './dto/json-rpc-bodies.js';
import { McpService } from './mcp.service.js';

/** By GET a client would ask for a stream, which a server refuses by 405 (the protocol's section on Streamable HTTP), as every path does. */
@ApiTags('MCP')
@Controller('mcp')
export class McpController {
  constructor(private readonly mcp: McpService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: 'Talk to the service as an MCP server',
    description: "The Model Context Protocol's Streamable HTTP without sessions: one JSON-RPC message, answered by JSON. What tools refuse is in their results.",
  })
  @ApiProtocolVersion()
  @ApiBody({ type: JsonRpcMessage, examples: { tools: { value: MESSAGE_EXAMPLE } } })
  @ApiOkResponse({ type: JsonRpcAnswer, description: 'The answer to a request', example: ANSWER_EXAMPLE })
  @ApiAcceptedResponse({ description: 'The message is no request and has no answer' })
  receive(@Body() message: unknown, @Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<object | undefined> {
    return this.mcp.receive(message, request, response);
  }
}
