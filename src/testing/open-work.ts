import { setTimeout as delay } from 'node:timers/promises';

import type { Catalog } from '../catalog/catalog.js';
import type { Clock } from '../common/clock.js';
import { listed } from '../common/names-in-messages.js';
import type { UnitOfWork } from '../database/unit-of-work.js';
import { isExternal } from '../engines/external/external-work.js';
import { NEVER } from '../queue/queue.js';
import { findOpenExecutions, findTimers, type OpenExecutionRow } from './open-work-rows.js';

const LOOK_MS = 1;
const LIMITS_MS = 1_000;

/** The work that has not ended: what runs now, and what waits for a later time. */
export class OpenWork {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
    private readonly catalog: Catalog,
  ) {}

  /** Resolves when nothing happens any more before the clock is moved. Rejects after `patience` milliseconds. */
  async ended(patience: number): Promise<void> {
    const end = performance.now() + patience;
    for (;;) {
      const running = await this.running();
      if (running.length === 0) return;
      if (performance.now() > end)
        throw new Error(
          `after ${patience} ms, this still runs: ${listed([...new Set(running)], 'and')}; give it an answer with TestKit.answer, or the test kit more patience`,
        );
      await delay(LOOK_MS);
    }
  }

  /** The next time (epoch ms) at which a retry, a timer or the end of a lease is due; null if there is none. */
  async nextTime(): Promise<number | null> {
    const { reader } = this.unitOfWork;
    const executions = await findOpenExecutions(reader);
    const timers = await findTimers(reader);
    const times = [
      ...executions.map(({ state, available_at, lease_until }) => {
        if (state === 'running') return lease_until;
        // A rate may have room by then.
        return available_at === NEVER ? this.clock.now() + LIMITS_MS : available_at;
      }),
      ...timers.map(({ due_at }) => due_at),
    ];
    const later = times.filter((time) => time !== null && time > this.clock.now()) as number[];
    return later.length === 0 ? null : Math.min(...later);
  }

  /** The executions of an external agent that can be claimed now, the oldest first. */
  async unclaimed(agent: string): Promise<string[]> {
    const executions = await findOpenExecutions(this.unitOfWork.reader);
    return executions.filter((row) => row.agent === agent && isClaimable(row)).map(({ id }) => id);
  }

  /** Names what runs, or is about to. */
  private async running(): Promise<string[]> {
    const { reader } = this.unitOfWork;
    const now = this.clock.now();
    const executions = (await findOpenExecutions(reader)).filter((row) => this.isRunning(row, now));
    const timers = (await findTimers(reader)).filter(({ due_at }) => due_at <= now);
    return [...executions.map(({ agent }) => agent), ...timers.map(({ kind }) => `a ${kind} timer`)];
  }

  private isRunning(row: OpenExecutionRow, now: number): boolean {
    if (row.state === 'running') return row.lease_owner !== null;
    if (row.available_at !== null) return row.available_at <= now;
    return isClaimable(row) && !isExternal(this.catalog.agent(row.agent));
  }
}

const isClaimable = ({ state, available_at, paused_at, waits }: OpenExecutionRow): boolean =>
  state === 'pending' && available_at === null && paused_at === null && waits === null;
