import { Injectable } from '@nestjs/common';

import { changesIn, originKindIn } from '../../blackboard/correlations/replay-options.js';
import { Cancellation } from '../../blackboard/execution/cancellation.js';
import { Traces } from '../../blackboard/explain/traces.js';
import { WaitingForAgents } from '../../blackboard/presence/waiting-for-agents.js';
import { ArtifactStore } from '../../blackboard/queries/artifact-store.js';
import { DomainError } from '../../common/domain-error.js';
import { isUuid } from '../../common/ids.js';
import { partsOf } from '../../common/page-cursor.js';
import type { CorrelationTermKind } from '../../database/schema.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { nextPage } from '../../http/dto/page.js';
import { listedCorrelationBody, statusBody } from './correlation.js';
import type { Place, Term } from './correlation-filter.js';
import { CorrelationPages } from './correlation-pages.js';
import { type CorrelationRow, CorrelationsRepository } from './correlations.repository.js';
import type { CorrelationListBody, CorrelationListQuery } from './dto/correlation-list.js';
import type { CorrelationStatusBody } from './dto/correlation-status-body.js';
import type { TraceBody, TraceQuery } from './dto/trace-body.js';

@Injectable()
export class CorrelationsService {
  constructor(
    private readonly cancellation: Cancellation,
    private readonly traces: Traces,
    private readonly artifacts: ArtifactStore,
    private readonly waitingForAgents: WaitingForAgents,
    private readonly unitOfWork: UnitOfWork,
    private readonly correlations: CorrelationsRepository,
    private readonly pages: CorrelationPages,
  ) {}

  /** Throws DomainError `not_found`, or `conflict` if it has ended. */
  async cancel(id: string): Promise<CorrelationStatusBody> {
    await this.unitOfWork.run((tx) => this.cancellation.cancel(tx, id));
    return this.status(id);
  }

  /** An unknown correlation is not an error, because its first publish may still come. */
  async status(id: string): Promise<CorrelationStatusBody> {
    const row = await this.correlations.find(this.unitOfWork.reader, id);
    if (!row) return { correlation_id: id, ...NOT_FOUND };
    const [lacking] = await this.lacking([row]);
    const { configuration, overrides } = changesIn(row.replay_options);
    return {
      ...statusBody(row, lacking!),
      ...(row.origin !== null && { origin_kind: originKindIn(row.replay_options) }),
      ...(configuration !== null && { configuration: configuration.name }),
      ...(overrides && { overrides }),
    };
  }

  /** Throws DomainError `invalid` if `after` is not from an earlier page. */
  async list({
    state,
    agent,
    type,
    tag,
    from,
    to,
    id_prefix,
    replay,
    limit,
    after,
  }: CorrelationListQuery): Promise<CorrelationListBody> {
    const { reader } = this.unitOfWork;
    const given = Object.entries({ agent, type, tag }) as [CorrelationTermKind, string | undefined][];
    const terms: Term[] = given.flatMap(([kind, value]) => (value === undefined ? [] : [{ kind, value }]));
    if (state !== undefined) terms.push({ kind: 'state', value: state });
    const filter = {
      terms,
      from: from ?? null,
      to: to ?? null,
      idPrefix: id_prefix ?? null,
      replays: replay,
    };
    const found = await this.pages.page(reader, filter, after === undefined ? null : placeOf(after), limit + 1);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const rows = await this.correlations.findAll(
      reader,
      page.map(({ seq }) => seq),
    );
    // One that has changed its state since it was found is not listed under the earlier one.
    const listed = rows.filter((row) => state === undefined || row.state === state);
    const lacking = await this.lacking(listed);
    return {
      items: listed.map((row, index) => listedCorrelationBody(row, lacking[index]!)),
      pagination: nextPage(limit, after, last ? [last.started_at, last.seq] : null),
    };
  }

  /** Throws DomainError `not_found`, or `invalid` if `after` is not the id of an artifact. */
  async trace(id: string, { after, limit }: TraceQuery): Promise<TraceBody> {
    const trace = await this.traces.of(id, after === undefined ? 0 : await this.positionOf(after), limit);
    if (!trace) throw new DomainError('not_found', `Correlation not found: ${id}`);
    return trace;
  }

  /** For each of them, the agents that it waits for and no process has. */
  private async lacking(rows: readonly CorrelationRow[]): Promise<string[][]> {
    const active = rows.filter(({ state }) => state === 'active').map(({ id }) => id);
    const agents = active.length > 0 ? await this.waitingForAgents.of(active) : new Map<string, string[]>();
    return rows.map(({ id }) => agents.get(id) ?? []);
  }

  private async positionOf(id: string): Promise<number> {
    const position = isUuid(id) ? await this.artifacts.positionOf(id.toLowerCase()) : undefined;
    if (position === undefined)
      throw new DomainError('invalid', `after: must be the id of an artifact (got ${JSON.stringify(id)})`);
    return position;
  }
}

function placeOf(after: string): Place {
  const [started_at, seq] = partsOf(after, ['number', 'number']);
  return { started_at, seq };
}

const NOT_FOUND = {
  state: 'not_found',
  has_pending_work: false,
  artifact_count: 0,
  error_count: 0,
  started_at: null,
  last_activity_at: null,
} as const;
