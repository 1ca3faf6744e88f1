import { Injectable } from '@nestjs/common';

import { countsOf } from '../../blackboard/correlations/tracked-correlation.js';
import { Cancellation } from '../../blackboard/execution/cancellation.js';
import { Traces } from '../../blackboard/explain/traces.js';
import { WaitingForAgents } from '../../blackboard/presence/waiting-for-agents.js';
import { ArtifactStore } from '../../blackboard/queries/artifact-store.js';
import { DomainError } from '../../common/domain-error.js';
import { isUuid } from '../../common/ids.js';
import { toTimestamp } from '../../common/timestamp.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { usageField } from '../../http/dto/usage-body.js';
import { type CorrelationRow, CorrelationsRepository } from './correlations.repository.js';
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
    return {
      correlation_id: id,
      state: row.state,
      has_pending_work: row.state === 'active',
      ...countsOf(row),
      started_at: toTimestamp(row.started_at),
      last_activity_at: toTimestamp(row.last_activity_at),
      ...(await this.lacking(row)),
      ...usageField(row),
    };
  }

  /** Throws DomainError `not_found`, or `invalid` if `after` is not the id of an artifact. */
  async trace(id: string, { after, limit }: TraceQuery): Promise<TraceBody> {
    const trace = await this.traces.of(id, after === undefined ? 0 : await this.positionOf(after), limit);
    if (!trace) throw new DomainError('not_found', `Correlation not found: ${id}`);
    return trace;
  }

  private async lacking({ id, state }: CorrelationRow): Promise<Pick<CorrelationStatusBody, 'waiting_for_agents'>> {
    const agents = state === 'active' ? await this.waitingForAgents.of(id) : [];
    return agents.length > 0 ? { waiting_for_agents: agents } : {};
  }

  private async positionOf(id: string): Promise<number> {
    const position = isUuid(id) ? await this.artifacts.positionOf(id.toLowerCase()) : undefined;
    if (position === undefined)
      throw new DomainError('invalid', `after: must be the id of an artifact (got ${JSON.stringify(id)})`);
    return position;
  }
}

const NOT_FOUND = {
  state: 'not_found',
  has_pending_work: false,
  artifact_count: 0,
  error_count: 0,
  started_at: null,
  last_activity_at: null,
} as const;
