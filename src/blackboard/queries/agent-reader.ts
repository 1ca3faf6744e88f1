import { Injectable } from '@nestjs/common';

import type { AgentDefinition } from '../../catalog/definitions.js';
import type { Visibility } from '../../catalog/visibility.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import { parsedSize } from '../../common/parsed-size.js';
import type { AgentArtifact, BlackboardFilter, BlackboardReader } from '../../engines/engine.js';
import { agentArtifactFromRow, type ArtifactRow } from '../artifacts/artifact.js';
import { canSee } from '../artifacts/visibility-rules.js';
import { type ArtifactFilter, NO_FILTER } from './artifact-filter.js';
import { ArtifactStore } from './artifact-store.js';

const DEFAULT_LIMIT = 50;
const MOST = 500;
/** Artifacts that one query finds. */
const PAGE = 500;
/** Artifacts that are read together. It is small because payloads can be large. */
const READ_AT_ONCE = 16;
const MIB = 1_024 ** 2;
/**
 * Bytes of memory for the parsed payloads of one list. They hold 16 MiB of long texts, and less if the payloads consist
 * of small values.
 */
const MOST_BYTES = 32 * MIB;

/** An agent that reads, in an execution of a correlation. It sees artifacts of a replay only inside of that replay. */
export interface BoardReader {
  agent: AgentDefinition;
  correlationId: string;
}

/**
 * Makes the readers that agents read the blackboard with. A reader finds only what the agent may see at that moment.
 */
@Injectable()
export class AgentReaders {
  constructor(
    private readonly store: ArtifactStore,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns an object of two functions. An instance would not do: agents' code holds it, and could reach the fields
   * that only TypeScript treats as private.
   */
  for(agent: AgentDefinition, correlationId: string): BlackboardReader {
    const reader = { agent, correlationId };
    return Object.freeze({
      get: (id: string) => this.get(reader, id),
      list: (filter?: BlackboardFilter) => this.list(reader, filter),
    });
  }

  /** Implements `newest` of EngineContext: at most `filter.limit` artifacts, without those in `except`. */
  async newest(
    reader: BoardReader,
    filter: BlackboardFilter,
    except: ReadonlySet<string>,
    mostCharacters: number,
  ): Promise<{ artifacts: AgentArtifact[]; isCut: boolean }> {
    const { limit = DEFAULT_LIMIT } = filter;
    const artifacts: AgentArtifact[] = [];
    let characters = 0;
    let bytes = 0;
    for await (const row of this.visible(reader, { ...filter, order: 'desc' })) {
      if (except.has(row.id)) continue;
      characters += row.payload.length;
      bytes += parsedSize(Buffer.from(row.payload));
      if (characters > mostCharacters || bytes > MOST_BYTES) return { artifacts, isCut: true };
      if (artifacts.push(agentArtifactFromRow(row, row.payload)) === limit) break;
    }
    return { artifacts, isCut: false };
  }

  private async get(reader: BoardReader, id: string): Promise<AgentArtifact | null> {
    const row = await this.store.get(id);
    return row && this.isSeenBy(reader, row) ? agentArtifactFromRow(row, row.payload) : null;
  }

  private async list(reader: BoardReader, filter: BlackboardFilter = {}): Promise<AgentArtifact[]> {
    const limit = filter.limit ?? DEFAULT_LIMIT;
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST) {
      throw new DomainError('invalid', `limit: must be a whole number from 1 to ${MOST}`);
    }
    const found: AgentArtifact[] = [];
    let bytes = 0;
    for await (const row of this.visible(reader, filter)) {
      bytes += parsedSize(Buffer.from(row.payload));
      if (found.length > 0 && bytes > MOST_BYTES)
        throw new DomainError(
          'invalid',
          `limit: the payloads that were found take more than ${MOST_BYTES / MIB} MiB of memory together; use a smaller limit`,
        );
      if (found.push(agentArtifactFromRow(row, row.payload)) === limit) break;
    }
    return found;
  }

  /** Reads a few artifacts at a time, so that a page of large ones is never in memory together. */
  private async *visible(reader: BoardReader, filter: BlackboardFilter): AsyncGenerator<ArtifactRow> {
    const page = { order: filter.order ?? 'asc', limit: PAGE, offset: 0 };
    for (let after: number | null = null; ;) {
      const seqs: number[] = await this.store.positions(asArtifactFilter(filter), { ...page, after });
      for (let start = 0; start < seqs.length; start += READ_AT_ONCE) {
        const rows = await this.store.at(seqs.slice(start, start + READ_AT_ONCE));
        yield* rows.filter((row) => this.isSeenBy(reader, row));
      }
      if (seqs.length < page.limit) return;
      // An agent that may see only a few artifacts of a long blackboard must not block other work.
      await yieldToEventLoop();
      after = seqs.at(-1)!;
    }
  }

  private isSeenBy({ agent, correlationId }: BoardReader, row: ArtifactRow): boolean {
    if (row.replay === 1 && row.correlation_id !== correlationId) return false;
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
