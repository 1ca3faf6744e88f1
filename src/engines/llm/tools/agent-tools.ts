import type { ToolSet } from 'ai';

import type { Clock } from '../../../common/clock.js';
import { scheduler } from '../../../common/scheduler.js';
import type { EngineContext, ToolCallEnd } from '../../engine.js';
import { EngineFailure } from '../../engine-answers.js';
import type { ToolServer } from './tool-server.js';

/** A server and the tools of it that an agent may use. */
export interface AllowedTools {
  server: ToolServer;
  names: readonly string[];
}

interface AttemptLimit {
  timeoutMs: number;
  clock: Clock;
  signal: AbortSignal;
  /** Aborting it aborts `signal` too. */
  failed: AbortController;
}

/** Tool calls of one attempt. Each is stored with its execution. */
const MOST_CALLS = 200;

/**
 * Makes the tools of one attempt for the SDK. Throws EngineFailure if a server cannot be reached or lacks an allowed
 * tool.
 */
export async function agentTools(
  allowed: readonly AllowedTools[],
  context: EngineContext,
  limit: AttemptLimit,
): Promise<ToolSet> {
  if (allowed.length === 0) return {};
  // After the abort nothing would stop a server that is started now.
  context.signal.throwIfAborted();
  const { dynamicTool, jsonSchema } = await import('ai');
  const tools: ToolSet = {};
  let calls = 0;
  for (const { server, names } of allowed) {
    const offered = await server.tools();
    for (const name of names) {
      const tool = offered.find((candidate) => candidate.name === name);
      if (!tool)
        throw new EngineFailure(
          'tool',
          `the server has no tool ${name}; it has ${offered.map((candidate) => candidate.name).join(', ')}`,
        );
      tools[name] = dynamicTool({
        description: tool.description,
        inputSchema: jsonSchema(tool.inputSchema),
        execute: (input) => {
          limit.signal.throwIfAborted();
          if ((calls += 1) > MOST_CALLS)
            throw fail(
              limit,
              new EngineFailure('output', `the model asked for more than ${MOST_CALLS} tool calls in one attempt`),
            );
          return recordedCall(server, name, input, context, limit);
        },
      });
    }
  }
  return tools;
}

/**
 * Ends the attempt immediately: a tool's refusal goes to the model, but a server that is gone ends the attempt. Without
 * the abort, the SDK would pass the error to the model and call it again.
 */
function fail({ failed }: AttemptLimit, error: EngineFailure): EngineFailure {
  failed.abort(error);
  return error;
}

// Neither arguments nor result are recorded: they may quote payloads or secrets of the tool's server.
async function recordedCall(
  server: ToolServer,
  tool: string,
  input: unknown,
  context: EngineContext,
  limit: AttemptLimit,
): Promise<string> {
  const begun = scheduler.elapsed();
  const ended = context.calls({ server: server.name, tool, at: limit.clock.now() });
  let outcome: ToolCallEnd['outcome'] = 'failed';
  let resultBytes = 0;
  try {
    const { text, isError } = await server.call(tool, input, limit);
    outcome = isError ? 'error' : 'ok';
    resultBytes = Buffer.byteLength(text);
    return text;
  } catch (error) {
    if (error instanceof EngineFailure) throw fail(limit, error);
    if (!limit.signal.aborted) outcome = 'error';
    throw error;
  } finally {
    const durationMs = scheduler.elapsed() - begun;
    ended({ outcome, durationMs, resultBytes });
    context.logger.info({ tool, outcome, duration_ms: Math.round(durationMs) }, 'tool call');
  }
}
