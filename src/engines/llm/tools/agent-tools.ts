import type { ToolSet } from 'ai';
import type { EngineContext } from '../../engine.js';
import { ModelFailure } from '../model-failure.js';
import type { ToolServer } from './tool-server.js';

/** A server and which of its tools an agent may use. */
export interface AllowedTools {
  server: ToolServer;
  names: readonly string[];
}

/** The tools of one execution, as the SDK calls them. ModelFailure where a server cannot be reached, or lacks one that is allowed. */
export async function agentTools(allowed: readonly AllowedTools[], context: EngineContext, timeoutMs: number): Promise<ToolSet> {
  if (allowed.length === 0) return {};
  const { dynamicTool, jsonSchema } = await import('ai');
  const tools: ToolSet = {};
  for (const { server, names } of allowed) {
    const offered = await server.tools();
    for (const name of names) {
      const tool = offered.find((candidate) => candidate.name === name);
      if (!tool) throw new ModelFailure('tool', `there is no tool ${name}; the server has ${offered.map((candidate) => candidate.name).join(', ')}`);
      tools[name] = dynamicTool({
        description: tool.description,
        inputSchema: jsonSchema(tool.inputSchema),
        execute: (input) => loggedCall(server, name, input, context, timeoutMs),
      });
    }
  }
  return tools;
}

async function loggedCall(server: ToolServer, tool: string, input: unknown, { logger, signal }: EngineContext, timeoutMs: number): Promise<string> {
  const begun = performance.now();
  let outcome = 'failed';
  try {
    const { text, isError } = await server.call(tool, input, { signal, timeoutMs });
    outcome = isError ? 'error' : 'ok';
    return text;
  } finally {
    // Neither its arguments nor its result: they may quote payloads.
    logger.info({ tool, outcome, duration_ms: Math.round(performance.now() - begun) }, 'tool call');
  }
}
