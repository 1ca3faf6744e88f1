import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { ToolAnswer } from './tool.js';

/** As structured content, and as the same JSON in a text for clients that know no other. */
export function toolResult({ body, replayed, mismatch }: ToolAnswer): CallToolResult {
  const content = [text(JSON.stringify(body))];
  if (mismatch) content.push(text('This is the answer to an earlier call with this idempotency key, which had other arguments.'));
  return { content, structuredContent: { ...body }, ...(replayed && { _meta: { 'starling/replayed': true } }) };
}

/** What a model can read and do something about. */
export const toolError = (sentence: string): CallToolResult => ({ content: [text(sentence)], isError: true });

const text = (said: string) => ({ type: 'text' as const, text: said });
