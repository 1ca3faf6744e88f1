import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { Catalog } from '../../catalog/catalog.js';
import { throttled } from '../../common/background-work.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';

export interface OpenWork {
  agent: string;
  /** Executions that wait to be claimed, including those that wait for the delay of a retry. */
  waiting: number;
  claimed: number;
}

interface Count {
  agent: string;
  count: number;
}

/** Counts the executions of each external agent that have not ended, for all processes together. */
@Injectable()
export class OpenExternalWork {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** The value may be a moment old, because counting many executions takes long. */
  readonly count = throttled(async (): Promise<OpenWork[]> => {
    const agents = this.catalog.agents.filter(isExternal).map(({ name }) => name);
    if (agents.length === 0) return [];
    // One query per partial index; one query over all would read the whole table.
    const counts = this.unitOfWork.reader
      .selectFrom('executions')
      .select(['agent', ({ fn }) => fn.countAll<number>().as('count')])
      .where('agent', 'in', agents)
      .groupBy('agent');
    const pending = counts.where('state', '=', sql.lit('pending' as const));
    const [ready, retrying, claimed] = await Promise.all([
      pending.where('available_at', 'is', null).execute(),
      pending.where('available_at', 'is not', null).execute(),
      counts.where('state', '=', sql.lit('running' as const)).execute(),
    ]);
    return agents.map((agent) => ({
      agent,
      waiting: countOf(ready, agent) + countOf(retrying, agent),
      claimed: countOf(claimed, agent),
    }));
  });
}

const countOf = (counts: readonly Count[], agent: string): number =>
  Number(counts.find((each) => each.agent === agent)?.count ?? 0);
