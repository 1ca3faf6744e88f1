import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { prepared } from '../../database/prepared.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';

/**
 * Scheduled work that one process at a time does. All of them tick; whose turn it is, is decided by a conditional update. One that
 * ends in the midst of its turn leaves it to whoever ticks when the next is due.
 */
@Injectable()
export class Turns {
  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Null where none is due, or another process was quicker. */
  async take(name: string, everyMs: number): Promise<Turn | null> {
    const now = this.clock.now();
    const [turn] = await findTurn(this.unitOfWork.reader, { name });
    if (!turn || turn.due_at > now) return null;
    const taken = new Turn(name, everyMs, turn.due_at, this.clock);
    return (await this.unitOfWork.run((tx) => taken.renew(tx))) ? taken : null;
  }
}

export class Turn {
  constructor(
    private readonly name: string,
    private readonly everyMs: number,
    private dueAt: number,
    private readonly clock: Clock,
  ) {}

  /** Has the next turn be due `everyMs` from now. False where it is another process's by now. */
  async renew(tx: Transaction): Promise<boolean> {
    // Never the same twice, so that of several that found one due only the first takes it.
    const next = Math.max(this.clock.now() + this.everyMs, this.dueAt + 1);
    const moved = await moveTurn(tx.db, { name: this.name, from: this.dueAt, to: next });
    if (moved.length === 0) return false;
    tx.afterCommit(() => (this.dueAt = next));
    return true;
  }
}

const findTurn = prepared<{ name: string }, { due_at: number }>((db, place) => db.selectFrom('turns').select('due_at').where('name', '=', place('name')));

const moveTurn = prepared<{ name: string; from: number; to: number }, { name: string }>((db, place) =>
  db.updateTable('turns').set({ due_at: place('to') }).where('name', '=', place('name')).where('due_at', '=', place('from')).returning('name'),
);
