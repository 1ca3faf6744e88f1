import { Injectable } from '@nestjs/common';
import type { AgentDefinition } from '../../catalog/definitions.js';
import type { Visibility } from '../../catalog/visibility.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import type { AgentArtifact, BlackboardFilter, BlackboardReader } from '../../engines/engine.js';
import { type ArtifactRow, agentArtifactFromRow } from '../artifact.js';
import { type ArtifactFilter, NO_FILTER } from './artifact-filter.js';
import { ArtifactStore } from './artifact-store.js';
import { canSee } from '../visibility.js';

const DEFAULT_LIMIT = 50;
const MOST = 500;

/** Makes what agents read the blackboard with: it finds only what the agent may see at that moment. */
@Injectable()
export class AgentReaders {
  constructor(
    private readonly store: ArtifactStore,
    private readonly clock: Clock,
  ) {}

  /** Two functions and nothing else. Agents' own code holds them, and could reach through the fields of an object that TypeScript alone calls private. */
  for(agent: AgentDefinition): BlackboardReader {
    return Object.freeze({
      get: (id: string) => this.get(agent, id),
      list: (filter?: BlackboardFilter) => this.list(agent, filter),
    });
  }

  private async get(agent: AgentDefinition, id: string): Promise<AgentArtifact | null> {
    const row = await this.store.get(id);
    return row && this.isSeenBy(agent, row) ? agentArtifactFromRow(row) : null;
  }

  private async list(agent: AgentDefinition, filter: BlackboardFilter = {}): Promise<AgentArtifact[]> {
    const limit = filter.limit ?? DEFAULT_LIMIT;
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST) {
      throw new DomainError('invalid', `limit: must be a whole number from 1 to ${MOST}`);
    }
    const page = { order: filter.order ?? 'asc', limit: MOST, offset: 0 };
    const found: AgentArtifact[] = [];
    let after: number | null = null;
    // What the agent may not see takes no place on its page.
    while (found.length < limit) {
      const rows: ArtifactRow[] = await this.store.list(asArtifactFilter(filter), { ...page, after });
      found.push(...rows.filter((row) => this.isSeenBy(agent, row)).map(agentArtifactFromRow));
      if (rows.length < page.limit) break;
      // An agent that sees little of a long blackboard must not hold up everybody else.
      await new Promise((resolve) => setImmediate(resolve));
      after = rows.at(-1)!.seq;
    }
    return found.slice(0, limit);
  }

  private isSeenBy(agent: AgentDefinition, row: ArtifactRow): boolean {
    return canSee(agent, JSON.parse(row.visibility) as Visibility, row.created_at, this.clock.now());
  }
}

const asArtifactFilter = (filter: BlackboardFilter): ArtifactFilter => ({
  ...NO_FILTER,
  types: filter.type ?? [],
  producers: filter.produced_by ?? [],
  tags: filter.tag ?? [],
  correlationId: filter.correlation_id ?? null,
});
