import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { prepared, preparedWithList } from '../../database/prepared.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { isInState } from '../../queue/state-predicate.js';

/** What is known to run of an agent, on all processes. */
interface Known {
  ids: string[];
  /** The newest claim that was looked at; claims count up, one process after another. */
  claim: number;
}

interface Running {
  id: string;
  claim: number;
}

/**
 * Counts what runs of an agent on all processes: those that ran at the last look and still do, and what was claimed since.
 * Looking at all would pass whatever has ended while some session holds an old snapshot (see ReadyRows).
 */
@Injectable()
export class RunningExecutions {
  private readonly known = new Map<string, Known>();

  forget(): void {
    this.known.clear();
  }

  /** To be asked for by one process at a time, which holds the agent's name until it has committed what it claims. */
  async count(tx: Transaction, agent: string): Promise<number> {
    const { ids, claim } = this.known.get(agent) ?? { ids: [], claim: 0 };
    const [still, since] = await Promise.all([findStill(tx.db, {}, ids), findSince(tx.db, { agent, claim })]);
    // A lost lease can have been claimed again.
    const running = new Set([...still, ...since].map(({ id }) => id));
    this.known.set(agent, { ids: [...running], claim: Math.max(claim, ...since.map((execution) => execution.claim)) });
    return running.size;
  }
}

const findStill = preparedWithList<object, string, { id: string }>((db, _place, ids) =>
  db.selectFrom('executions').select('id').where('id', 'in', ids).where(isInState('running')),
);

const findSince = prepared<{ agent: string; claim: number }, Running>((db, place) =>
  db
    .selectFrom('executions')
    .select(['id', 'claim'])
    .where('state', '=', sql.lit('running' as const))
    .where('agent', '=', place('agent'))
    .where('claim', '>', place('claim'))
    .$narrowType<{ claim: number }>(),
);
