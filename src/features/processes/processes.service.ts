import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';

import { Processes } from '../../blackboard/processes/processes.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { ProcessesTable } from '../../database/schema.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { ProcessBody, ProcessesBody } from './dto/processes-body.js';
import { type RunningExecutions, RunningExecutionsRepository } from './running-executions.repository.js';

/** Lists the live processes, with their agents and running executions. */
@Injectable()
export class ProcessesService {
  constructor(
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
    private readonly executions: RunningExecutionsRepository,
  ) {}

  async list(): Promise<ProcessesBody> {
    const running = Map.groupBy(await this.executions.count(this.unitOfWork.reader), ({ owner }) => owner);
    const rows = await this.processes.all();
    return { processes: rows.map((row) => processBody(row, running.get(row.id) ?? [])) };
  }
}

const processBody = (row: Selectable<ProcessesTable>, running: readonly RunningExecutions[]): ProcessBody => ({
  id: row.id,
  roles: JSON.parse(row.roles) as string[],
  version: row.version,
  configuration: row.configuration,
  replay_configurations: JSON.parse(row.replay_configurations) as Record<string, string>,
  agents: JSON.parse(row.agents) as string[],
  running: Object.fromEntries(running.map(({ agent, count }) => [agent, count])),
  started_at: toTimestamp(row.started_at),
  last_heartbeat_at: toTimestamp(row.seen_at),
});
