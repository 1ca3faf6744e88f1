import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

import { DomainError } from '../../common/domain-error.js';
import type { MemoryReservation } from '../../common/memory-budget.js';
import { parsedSize } from '../../common/parsed-size.js';
import { collectText, TextInParts } from '../../common/text-in-parts.js';
import type { ToolAnswer } from './tool.js';

/** Maximum number of JSON characters in one answer. No model reads more. */
const MOST_ANSWER_CHARACTERS = 1_024 ** 2;

/**
 * Returns the answer as structured content, and as the same JSON in a text for older clients. `held` grows by the
 * memory that this takes. Throws DomainError `invalid` if the answer is too large for a model, or `unavailable`.
 */
export async function toolResult(
  { body, correlationId, replayed, mismatch }: ToolAnswer,
  held: MemoryReservation,
): Promise<CallToolResult> {
  const json = body instanceof TextInParts ? await collectText(body, MOST_ANSWER_CHARACTERS) : JSON.stringify(body);
  if (json === null) return withoutArtifacts(correlationId);
  held.grow(parsedSize(Buffer.from(json)));
  const content = [text(json)];
  if (mismatch)
    content.push(text('This is the answer to an earlier call with this idempotency key and other arguments.'));
  return {
    content,
    structuredContent: JSON.parse(json) as Record<string, unknown>,
    ...(replayed && { _meta: { 'starling/replayed': true } }),
  };
}

/**
 * Answers with the correlation id alone if the result is too large: the work is done, so an error would
 * mislead.
 */
function withoutArtifacts(correlationId: string | undefined): CallToolResult {
  const size = `larger than ${MOST_ANSWER_CHARACTERS / 1_024 ** 2} MiB`;
  if (correlationId === undefined) {
    throw new DomainError(
      'invalid',
      `The answer is ${size}; use a smaller limit and page with after, or use REST (GET /api/v1/artifacts/{artifact_id}, GET /run/{run_id})`,
    );
  }
  const hint = `The call was accepted, but its result is ${size}. Call list_artifacts with this correlation_id and a small limit, and correlation_status for the state.`;
  const short = { correlation_id: correlationId };
  return { content: [text(JSON.stringify(short)), text(hint)], structuredContent: short };
}

/** Returns an error as a result, so that the model can read it and correct its call. */
export const toolError = (sentence: string): CallToolResult => ({ content: [text(sentence)], isError: true });

const text = (said: string) => ({ type: 'text' as const, text: said });
