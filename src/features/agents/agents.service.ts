import { Injectable } from '@nestjs/common';

import { DirectRuns } from '../../blackboard/publishing/direct-runs.js';
import type { HourOfActivity } from '../../blackboard/queries/activity-totals.repository.js';
import { AgentHistory } from '../../blackboard/queries/agent-history.js';
import { StoredTexts } from '../../blackboard/queries/stored-texts.js';
import { VariantHistory } from '../../blackboard/queries/variant-history.js';
import { AgentPauses } from '../../blackboard/scheduling/agent-pauses.js';
import { Catalog } from '../../catalog/catalog.js';
import { unknownAgent } from '../../catalog/unknown-names.js';
import type { HeldRequest } from '../../common/held-request.js';
import { newId } from '../../common/ids.js';
import type { TextInParts } from '../../common/text-in-parts.js';
import { toTimestamp } from '../../common/timestamp.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { type ArtifactFilterQuery, toArtifactFilter } from '../../http/dto/artifact-filter-query.js';
import { usageField } from '../../http/dto/usage-body.js';
import { variantHistoryBody } from './agent.js';
import { AgentStates } from './agent-states.js';
import type { RunAgentRequest } from './dto/agent-run.js';
import type { AgentNamesBody, AgentsBody } from './dto/agents-body.js';
import type { HistoryBody, HourBody } from './dto/history-body.js';
import type { AgentPauseBody } from './dto/pause-body.js';

/** Lists agents, runs one directly, pauses and resumes one, and summarizes its history. */
@Injectable()
export class AgentsService {
  constructor(
    private readonly catalog: Catalog,
    private readonly directRuns: DirectRuns,
    private readonly pauses: AgentPauses,
    private readonly states: AgentStates,
    private readonly history: AgentHistory,
    private readonly variants: VariantHistory,
    private readonly texts: StoredTexts,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  names(): AgentNamesBody {
    return { agents: this.catalog.agents.map(({ name, description }) => ({ name, description })) };
  }

  async list(): Promise<AgentsBody> {
    return { agents: await this.states.all() };
  }

  /** Returns a RunAgentBody as JSON. Throws DomainError `not_found`. */
  async run(name: string, request: RunAgentRequest, held: HeldRequest): Promise<TextInParts> {
    held.waits();
    const run = await this.directRuns.begin(name, request.inputs, newId());
    held.releaseBody(request);
    return this.texts.ofEffect(['{"artifacts":[', await this.directRuns.outputsOf(run), ']}']);
  }

  /** Idempotent. Throws DomainError `not_found`. */
  async pause(name: string): Promise<AgentPauseBody> {
    const pausedAt = await this.unitOfWork.run((tx) => this.pauses.pause(tx, name));
    // Executions that are being stored may start without a claim. Later ones see the pause.
    await this.unitOfWork.writersEnded('executions');
    return { name, paused: true, paused_at: toTimestamp(pausedAt) };
  }

  /** Idempotent. Throws DomainError `not_found`. */
  async resume(name: string): Promise<AgentPauseBody> {
    await this.unitOfWork.run((tx) => this.pauses.resume(tx, name));
    return { name, paused: false, paused_at: null };
  }

  async summarizeHistory(name: string, query: ArtifactFilterQuery): Promise<HistoryBody> {
    const agent = this.catalog.agent(name);
    if (!agent) throw unknownAgent(name, this.catalog.agents);
    const [hours, used, variants] = await Promise.all([
      this.history.hoursOf(name, toArtifactFilter(query)),
      this.history.usageOf(name),
      this.variants.of(agent),
    ]);
    const sum = (column: keyof HourBody): number => hours.reduce((total, hour) => total + hour[column], 0);
    return {
      agent_id: name,
      summary: {
        total_executions: sum('executions'),
        total_artifacts_consumed: sum('artifacts_consumed'),
        total_artifacts_produced: sum('artifacts_produced'),
        execution_timeline: Object.fromEntries(hours.map(timelineEntry)),
        ...usageField(used),
        ...(variants.length > 0 && { by_variant: variants.map(variantHistoryBody) }),
      },
    };
  }
}

/** An agent that has worked for a year has 8,760 of them, so nothing is copied that the answer does not need. */
function timelineEntry(activity: HourOfActivity): [string, HourBody] {
  const { hour, executions, failures, artifacts_consumed, artifacts_produced } = activity;
  const start = `${new Date(hour).toISOString().slice(0, 13)}:00:00Z`;
  return [start, { executions, failures, artifacts_consumed, artifacts_produced }];
}
