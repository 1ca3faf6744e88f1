import { Injectable } from '@nestjs/common';
import { type Selectable, sql } from 'kysely';

import { Processes } from '../../blackboard/processes/processes.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { ProcessesTable } from '../../database/schema.js';
import { type Reader, UnitOfWork } from '../../database/unit-of-work.js';
import type { ProcessBody, ProcessesBody } from './dto/processes-body.js';

interface Running {
  owner: string;
  agent: string;
  count: number;
}

/** Lists the live processes, with their agents and running executions. */
@Injectable()
export class ProcessesService {
  constructor(
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async list(): Promise<ProcessesBody> {
    const running = Map.groupBy(await findRunning(this.unitOfWork.reader), ({ owner }) => owner);
    const rows = await this.processes.all();
    return { processes: rows.map((row) => processBody(row, running.get(row.id) ?? [])) };
  }
}

const processBody = (row: Selectable<ProcessesTable>, running: readonly Running[]): ProcessBody => ({
  id: row.id,
  roles: JSON.parse(row.roles) as string[],
  version: row.version,
  configuration: row.configuration,
  agents: JSON.parse(row.agents) as string[],
  running: Object.fromEntries(running.map(({ agent, count }) => [agent, count])),
  started_at: toTimestamp(row.started_at),
  last_heartbeat_at: toTimestamp(row.seen_at),
});

/** Scans the partial index of running executions, whose size the concurrency limits of the processes bound. */
const findRunning = (reader: Reader): Promise<Running[]> =>
  reader
    .selectFrom('executions')
    .select(({ fn, ref }) => [ref('lease_owner').$notNull().as('owner'), 'agent', fn.countAll<number>().as('count')])
    .where('state', '=', sql.lit('running' as const))
    .where('lease_owner', 'is not', null)
    .groupBy(['lease_owner', 'agent'])
    .orderBy('agent')
    .execute();
