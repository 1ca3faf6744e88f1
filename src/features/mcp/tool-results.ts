import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { DomainError } from '../../common/domain-error.js';
import type { MemoryReservation } from '../../common/memory-budget.js';
import { parsedSize } from '../../common/parsed-size.js';
import { collectText, TextInParts } from '../../common/text-in-parts.js';
import { MOST_ANSWER_CHARACTERS } from './mcp-limits.js';
import type { ToolAnswer } from './tool.js';

/**
 * As structured content, and as the same JSON in a text for clients that know no other. `held` grows by what that takes. DomainError
 * `invalid` where it is more than a model can read, `unavailable`.
 */
export async function toolResult({ body, correlationId, replayed, mismatch }: ToolAnswer, held: MemoryReservation): Promise<CallToolResult> {
  const json = body instanceof TextInParts ? await collectText(body, MOST_ANSWER_CHARACTERS) : JSON.stringify(body);
  if (json === null) return withoutArtifacts(correlationId);
  held.grow(parsedSize(Buffer.from(json)));
  const content = [text(json)];
  if (mismatch) content.push(text('This is the answer to an earlier call with this idempotency key, which had other arguments.'));
  return { content, structuredContent: JSON.parse(json) as Record<string, unknown>, ...(replayed && { _meta: { 'starling/replayed': true } }) };
}

/** Of what has been begun there is an answer, however much came of it. */
function withoutArtifacts(correlationId: string | undefined): CallToolResult {
  const size = `larger than ${MOST_ANSWER_CHARACTERS / 1_024 ** 2} MiB`;
  if (correlationId === undefined) {
    throw new DomainError('invalid', `The answer is ${size}; ask for fewer with limit and go on with after, or read a single one over REST (GET /api/v1/artifacts/{artifact_id}, GET /run/{run_id})`);
  }
  const hint = `It was done, and what came of it is ${size}: list_artifacts with this correlation_id shows it, with a small limit, and correlation_status says whether it has ended.`;
  const short = { correlation_id: correlationId };
  return { content: [text(JSON.stringify(short)), text(hint)], structuredContent: short };
}

/** What a model can read and do something about. */
export const toolError = (sentence: string): CallToolResult => ({ content: [text(sentence)], isError: true });

const text = (said: string) => ({ type: 'text' as const, text: said });
