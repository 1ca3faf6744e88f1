import type { AgentArtifact, BlackboardFilter, EngineContext } from '../engine.js';
import { type ContextOption, DEFAULT_CONTEXT_LIMIT } from './llm-options.js';
import { artifactLine } from './prompt.js';
import { BYTES_A_TOKEN } from './token-estimate.js';

export interface ContextLines {
  /** Oldest first. */
  lines: string[];
  /** True if older artifacts did not fit. */
  isCut: boolean;
}

/**
 * The earlier artifacts in an execution's prompt: the newest ones that the agent may see and that fit into `tokens`
 * together. Null if the agent wants none.
 */
export async function contextLines(
  option: ContextOption,
  tokens: number,
  inputs: readonly AgentArtifact[],
  { correlationId, newest }: Pick<EngineContext, 'correlationId' | 'newest'>,
): Promise<ContextLines | null> {
  const filter = filterOf(option, correlationId);
  if (filter === null) return null;
  let room = tokens * BYTES_A_TOKEN;
  const { artifacts, isCut } = await newest(
    { limit: DEFAULT_CONTEXT_LIMIT, ...filter },
    new Set(inputs.map(({ id }) => id)),
    room,
  );
  const lines: string[] = [];
  for (const artifact of artifacts) {
    const line = artifactLine(artifact);
    room -= Buffer.byteLength(line) + 1;
    // Everything older than an artifact that does not fit is left out too, so that the context has no gap.
    if (room < 0) return { lines, isCut: true };
    lines.unshift(line);
  }
  return { lines, isCut };
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
