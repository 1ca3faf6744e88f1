import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Signals } from '../../pubsub/signals.js';
import type { ClaimRequest, HeldExecution } from './claim-request.js';
import { ExternalClaims } from './external-claims.js';

const LOOK_AGAIN_MS = 2_000;
/**
 * Pairs of agent and assignee that one transaction looks for. SQLite accepts at most 32,766 parameters, and no other
 * transaction can run meanwhile.
 */
const ASKED_AT_ONCE = 500;
const TRY_AGAIN_SECONDS = 5;

interface Waiter {
  request: ClaimRequest;
  /** Must be called once. */
  answer: (held: HeldExecution[]) => void;
}

/** Requests that wait for the same work. The first one is served first. */
interface ClaimQueue {
  key: string;
  agents: readonly string[];
  /** They claim executions of this assignee; null: unassigned ones. */
  assignee: string | null;
  /** In the order of their arrival. */
  waiters: Set<Waiter>;
  /** Whether there may be work for them. */
  isPending: boolean;
  isServed: boolean;
}

type AssigneeQueue = ClaimQueue & { assignee: string };

const isForAssignee = (queue: ClaimQueue): queue is AssigneeQueue => queue.assignee !== null;

const nameOf = (agent: string, assignee: string): string => JSON.stringify([agent, assignee]);

/**
 * Claims that wait for work. Of the requests that wait for the same work, a wake-up runs one claim after the other
 * until one finds nothing. Requests with an assignee each wait for different work, so one query looks for all of them.
 */
@Injectable()
export class WaitingClaims {
  private readonly queues = new Map<string, ClaimQueue>();
  private isLooking = false;

  constructor(
    private readonly claims: ExternalClaims,
    private readonly clock: Clock,
    private readonly lifecycle: Lifecycle,
    @Inject(LOGGER) private readonly logger: Logger,
    signals: Signals,
  ) {
    signals.executionReady.subscribe((agent) => this.wake(agent));
    signals.executionReturned.subscribe((agent) => this.resync(agent));
    signals.resync.subscribe(() => this.resync(null));
    lifecycle.onStop(() => this.release());
  }

  /**
   * Waits at most `waitMs`. Returns an empty list if there was no work, or if the process stops. If `gone` is aborted,
   * claimed executions are handed back. DomainError as in `ExternalClaims.checkRequest`, and `unavailable` if the
   * process is already stopping.
   */
  async claim(request: ClaimRequest, waitMs: number, gone: AbortSignal): Promise<HeldExecution[]> {
    await this.claims.checkRequest(request);
    if (this.lifecycle.stopping)
      throw new DomainError('unavailable', 'The service is shutting down; try again', {
        retryAfterSeconds: TRY_AGAIN_SECONDS,
      });
    const held = await (waitMs > 0 ? this.wait(request, waitMs, gone) : this.claims.claim(request));
    if (!gone.aborted || held.length === 0) return held;
    await this.claims.handBack(held);
    return [];
  }

  /** The signals of other processes may be lost. */
  @Interval(LOOK_AGAIN_MS)
  lookAgain(): void {
    this.wake(null);
  }

  private wait(request: ClaimRequest, waitMs: number, gone: AbortSignal): Promise<HeldExecution[]> {
    if (gone.aborted) return Promise.resolve([]);
    const queue = this.queueOf(request);
    return new Promise((resolve) => {
      const answer = (held: HeldExecution[]): void => {
        cancelTimeout();
        gone.removeEventListener('abort', giveUp);
        this.leave(queue, waiter);
        resolve(held);
      };
      const giveUp = (): void => answer([]);
      const waiter = { request, answer };
      const cancelTimeout = this.clock.at(this.clock.now() + waitMs, giveUp);
      gone.addEventListener('abort', giveUp, { once: true });
      queue.waiters.add(waiter);
      this.feed(queue);
    });
  }

  private release(): void {
    for (const { waiters } of this.queues.values()) waiters.forEach(({ answer }) => answer([]));
  }

  private resync(agent: string | null): void {
    this.claims.resync(agent);
    this.wake(agent);
  }

  /** Null: any agent may have work. */
  private wake(agent: string | null): void {
    for (const queue of this.queues.values()) {
      if (agent === null || queue.agents.includes(agent)) this.feed(queue);
    }
  }

  private feed(queue: ClaimQueue): void {
    queue.isPending = true;
    if (queue.assignee === null) this.serve(queue);
    else if (!this.isLooking) void this.lookForAssignees();
  }

  private async lookForAssignees(): Promise<void> {
    this.isLooking = true;
    try {
      for (let asking = this.pendingQueues(); asking.length > 0; asking = this.pendingQueues()) {
        for (const queue of asking) queue.isPending = false;
        const asked = asking.flatMap(({ agents, assignee }) => agents.map((agent) => ({ agent, assignee })));
        const found = new Set(
          (await this.claims.waitingAmong(asked)).map(({ agent, assignee }) => nameOf(agent, assignee)),
        );
        for (const queue of asking.filter(({ agents, assignee }) =>
          agents.some((agent) => found.has(nameOf(agent, assignee))),
        )) {
          queue.isPending = true;
          this.serve(queue);
        }
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'work for waiting assignees could not be looked for; trying again');
    } finally {
      this.isLooking = false;
    }
  }

  /** Leaves out queues that are being served, since they look for work themselves. */
  private pendingQueues(): AssigneeQueue[] {
    const pending: AssigneeQueue[] = [];
    let asked = 0;
    for (const queue of this.queues.values()) {
      if (!isForAssignee(queue) || !queue.isPending || queue.isServed) continue;
      pending.push(queue);
      asked += queue.agents.length;
      if (asked >= ASKED_AT_ONCE) break;
    }
    return pending;
  }

  private serve(queue: ClaimQueue): void {
    if (queue.isServed) return;
    queue.isServed = true;
    void this.serveWaiters(queue);
  }

  private async serveWaiters(queue: ClaimQueue): Promise<void> {
    for (;;) {
      const [waiter] = queue.waiters;
      if (!waiter || !queue.isPending) {
        queue.isServed = false;
        return;
      }
      queue.isPending = false;
      try {
        const held = await this.claims.claim(waiter.request);
        if (held.length === 0) continue;
        queue.isPending = true;
        if (queue.waiters.has(waiter)) waiter.answer(held);
        // The waiter has left. No other waiter may get these, because they are claimed in its name.
        else await this.claims.handBack(held);
      } catch (error) {
        this.logger.warn({ err: error }, 'executions could not be claimed for a waiting request; trying again');
      }
    }
  }

  private queueOf({ agents, assignee }: ClaimRequest): ClaimQueue {
    const key = JSON.stringify([agents, assignee]);
    let queue = this.queues.get(key);
    if (!queue)
      this.queues.set(key, (queue = { key, agents, assignee, waiters: new Set(), isPending: false, isServed: false }));
    return queue;
  }

  private leave(queue: ClaimQueue, waiter: Waiter): void {
    queue.waiters.delete(waiter);
    if (queue.waiters.size === 0 && this.queues.get(queue.key) === queue) this.queues.delete(queue.key);
  }
}
