import type { JSONRPCRequest, Result } from '@modelcontextprotocol/sdk/types.js';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';

import { DomainError } from '../../common/domain-error.js';
import type { HeldRequest } from '../../common/held-request.js';
import { isJsonObject } from '../../common/json.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { MemoryBudget, type MemoryReservation } from '../../common/memory-budget.js';
import { Settings } from '../../config/settings.js';
import { HeldBody } from '../../http/bodies/held-body.js';
import { answerCorrelationId } from '../../http/middleware/correlation-id.js';
import { requestIdOf } from '../../http/middleware/request-observer.js';
import { HeldCall } from './held-call.js';
import type { Tool } from './tool.js';
import { toolError, toolResult } from './tool-results.js';
import { Tools } from './tools.js';

const INSTRUCTIONS = `Agents work on a shared blackboard: they subscribe to artifact types, run, and publish further
artifacts. The publish and run tools wait until the workflow has ended. If the answer says that it has not (completed:
false, or status: running), it continues: poll correlation_status or get_run, then call list_artifacts with the
correlation_id. Artifacts of type WorkflowError describe failures of agents.`.replaceAll('\n', ' ');

/** Answers the messages of MCP clients. Messages share no state. */
@Injectable()
export class McpService {
  constructor(
    private readonly tools: Tools,
    private readonly settings: Settings,
    private readonly memory: MemoryBudget,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Returns the response, or undefined with status 202 for a message without one. Throws DomainError `invalid` if
   * the body is not a JSON-RPC message.
   */
  async receive(body: unknown, request: Request, response: Response): Promise<object | undefined> {
    // Loaded with the first message, because most services never get one and loading slows the start.
    const { exchange, readMessage } = await import('./exchange.js');
    const message = readMessage(body, request.headers['mcp-protocol-version'] as string | undefined);
    const held = new HeldCall(new HeldBody(request), [body as object]);
    const answer = (asked: JSONRPCRequest): Promise<Result> => this.answer(asked, response, held);
    const answered = await exchange(message, { title: this.settings.serverName, instructions: INSTRUCTIONS, answer });
    if (answered !== null) return answered;
    response.status(202);
    return undefined;
  }

  private async answer(
    { method, params = {} }: JSONRPCRequest,
    response: Response,
    held: HeldRequest,
  ): Promise<Result> {
    if (method === 'tools/list') return { tools: this.tools.all().map(shown) };
    if (method === 'tools/call') return this.call(params, response, held);
    throw new RpcError('unknownMethod', `Unknown method: ${method}`);
  }

  private async call(
    { name, arguments: given = {} }: Record<string, unknown>,
    response: Response,
    held: HeldRequest,
  ): Promise<Result> {
    if (typeof name !== 'string') throw new RpcError('invalidParams', 'name: must be a string');
    if (!isJsonObject(given)) throw new RpcError('invalidParams', 'arguments: must be an object');
    const tool = this.tools.find(name);
    if (!tool) throw new RpcError('invalidParams', this.tools.unknown(name));
    try {
      const answer = await this.tools.call(tool, given, new HeldCall(held, [given]));
      if (answer.correlationId !== undefined) answerCorrelationId(response, answer.correlationId);
      return await toolResult(answer, this.heldFor(response));
    } catch (error) {
      return toolError(this.sentenceOf(error, requestIdOf(response)));
    }
  }

  private heldFor(response: Response): MemoryReservation {
    const held = this.memory.reserve(0);
    response.once('close', () => held.release());
    return held;
  }

  /** Returns the same sentence that `http/errors/error-filter.ts` gives for other routes. */
  private sentenceOf(error: unknown, requestId: string): string {
    if (!(error instanceof DomainError)) this.logger.error({ err: error, request_id: requestId }, 'unexpected error');
    else if (error.options.cause !== undefined) this.logger.warn({ err: error, request_id: requestId }, error.message);
    return error instanceof DomainError
      ? error.message
      : `Internal error; see request id ${requestId} in the service's log`;
  }
}

const shown = ({ name, description, inputSchema, reads }: Tool) => ({
  name,
  description,
  inputSchema,
  annotations: { readOnlyHint: reads },
});

/** Error codes (JSON-RPC 2.0, section 5.1). */
const CODES = { unknownMethod: -32_601, invalidParams: -32_602 } as const;

/** An error that the protocol answers. Errors of tools are results instead. */
class RpcError extends Error {
  readonly code: number;

  constructor(kind: keyof typeof CODES, message: string) {
    super(message);
    this.code = CODES[kind];
  }
}
