import { Injectable } from '@nestjs/common';

import { ExecutionsWithoutAgent } from '../../blackboard/scheduling/executions-without-agent.js';
import { WaitingWork } from '../../blackboard/waits/waiting-work.js';
import { Catalog } from '../../catalog/catalog.js';
import { Settings } from '../../config/settings.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import type { ExecutionListBody, ExecutionListQuery } from './dto/execution-list.js';
import { listedExecutionBody } from './execution.js';
import { ExecutionsRepository, type OpenFilter, type OpenState } from './executions.repository.js';

/** Lists executions. */
@Injectable()
export class ExecutionListsService {
  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    private readonly executions: ExecutionsRepository,
    private readonly withoutAgent: ExecutionsWithoutAgent,
    private readonly waitingWork: WaitingWork,
  ) {}

  async list(query: ExecutionListQuery): Promise<ExecutionListBody> {
    const { limit, offset } = query;
    const filter = {
      state: query.state ?? null,
      agent: query.agent ?? null,
      correlationId: query.correlation_id ?? null,
      assignee: query.assignee ?? null,
      failureGroup: query.failure_group ?? null,
      replays: query.replay || query.correlation_id !== undefined,
    };
    const lacking = await this.withoutAgent.agents();
    const open = await this.openFilter(query, lacking);
    if (open !== null && Object.values(open.agents).every((agents) => agents.length === 0))
      return { items: [], pagination: { limit, offset, has_more: false } };
    const rows = await this.executions.list(this.unitOfWork.reader, { ...filter, open }, { limit, offset });
    return {
      items: rows.slice(0, limit).map((row) => listedExecutionBody(row, lacking, this.settings)),
      pagination: { limit, offset, has_more: rows.length > limit },
    };
  }

  /** Returns null if the query asks neither for external work nor for executions that wait for something. */
  private async openFilter(
    { state, without_agent, external, waits_for }: ExecutionListQuery,
    lacking: readonly string[],
  ): Promise<OpenFilter | null> {
    if (!without_agent && !external && waits_for === undefined) return null;
    const all = without_agent ? lacking : this.catalog.agents.map(({ name }) => name);
    const everything = { agents: { ready: all, retrying: all, blocked: all }, except: [] };
    const { agents: waiting, except } =
      waits_for === undefined ? everything : await this.waitingWork.waitingFor(waits_for);
    const open: OpenFilter['agents'] =
      without_agent || waits_for !== undefined ? waiting : { ...waiting, running: all };
    const isAsked = (agent: string): boolean =>
      (!without_agent || lacking.includes(agent)) && (!external || isExternal(this.catalog.agent(agent)));
    const agents = Object.fromEntries(
      (Object.entries(open) as [OpenState, readonly string[]][])
        .filter(([of]) => state === undefined || state === (of === 'running' ? 'running' : 'pending'))
        .map(([of, agents]) => [of, agents.filter(isAsked)]),
    );
    return { agents, except };
  }
}
