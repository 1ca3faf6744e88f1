import type { AgentArtifact, BlackboardFilter, BlackboardReader } from '../engine.js';
import { type ContextOption, DEFAULT_CONTEXT_LIMIT } from './llm-options.js';
import { artifactLine } from './prompt.js';
import { BYTES_A_TOKEN } from './token-estimate.js';

/**
 * The earlier artifacts that an execution's prompt shows, oldest first: of what the agent may see, the newest ones that fit into
 * `tokens` together. Null where the agent asks for none.
 */
export async function contextLines(
  option: ContextOption,
  tokens: number,
  inputs: readonly AgentArtifact[],
  correlationId: string,
  blackboard: BlackboardReader,
): Promise<string[] | null> {
  const filter = filterOf(option, correlationId);
  if (filter === null) return null;
  const known = new Set(inputs.map(({ id }) => id));
  const limit = filter.limit ?? DEFAULT_CONTEXT_LIMIT;
  const found = await blackboard.list({ ...filter, order: 'desc', limit: Math.min(limit + known.size, 500) });
  const lines: string[] = [];
  let room = tokens * BYTES_A_TOKEN;
  for (const artifact of found.filter(({ id }) => !known.has(id)).slice(0, limit)) {
    const line = artifactLine(artifact);
    room -= Buffer.byteLength(line) + 1;
    // What is older than one that does not fit is left out too, so that what is shown has no gap.
    if (room < 0) break;
    lines.unshift(line);
  }
  return lines;
}

function filterOf(option: ContextOption, correlationId: string): BlackboardFilter | null {
  if (option === 'none') return null;
  if (option === 'correlation') return { correlation_id: correlationId };
  const { types, produced_by, tags, correlation, limit } = option;
  return {
    ...(types && { type: types }),
    ...(produced_by && { produced_by }),
    ...(tags && { tag: tags }),
    ...(correlation === true && { correlation_id: correlationId }),
    ...(limit !== undefined && { limit }),
  };
}
