import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Signals } from '../../signals/signals.js';
import type { ClaimRequest, HeldExecution } from './claim-request.js';
import { ExternalClaims } from './external-claims.js';

const LOOK_AGAIN_MS = 2_000;
const TRY_AGAIN_SECONDS = 5;

interface Waiter {
  request: ClaimRequest;
  /** To be called once. */
  answer: (held: HeldExecution[]) => void;
}

/** Those who wait for the same: the first of them is served first. */
interface Line {
  key: string;
  agents: readonly string[];
  /** In the order of their coming. */
  waiters: Set<Waiter>;
  /** Whether there may be something for them. */
  isHungry: boolean;
  isServed: boolean;
}

/**
 * Claims that wait until there is something to claim. However many wait for the same, a wake-up has as many of them look as find
 * something, and one more.
 */
@Injectable()
export class WaitingClaims {
  private readonly lines = new Map<string, Line>();

  constructor(
    private readonly claims: ExternalClaims,
    private readonly clock: Clock,
    private readonly lifecycle: Lifecycle,
    @Inject(LOGGER) private readonly logger: Logger,
    signals: Signals,
  ) {
    signals.executionReady.subscribe((agent) => this.wake(agent));
    signals.executionReturned.subscribe((agent) => this.lookAnew(agent));
    signals.mayHaveMissed.subscribe(() => this.lookAnew(null));
    lifecycle.onStop(() => this.release());
  }

  /**
   * Waits `waitMs` at most; nothing where nothing came, and at the end of the process. Where `gone` is aborted, what was claimed
   * nevertheless is handed back. DomainError as `ExternalClaims.check` says, and `unavailable` where the process is ending already.
   */
  async claim(request: ClaimRequest, waitMs: number, gone: AbortSignal): Promise<HeldExecution[]> {
    this.claims.check(request.agents);
    if (this.lifecycle.stopping) throw new DomainError('unavailable', 'The service is shutting down; try again', { retryAfterSeconds: TRY_AGAIN_SECONDS });
    const held = await (waitMs > 0 ? this.wait(request, waitMs, gone) : this.claims.claim(request));
    if (!gone.aborted || held.length === 0) return held;
    await this.claims.handBack(held);
    return [];
  }

  /** What other processes do may never be heard of. */
  @Interval(LOOK_AGAIN_MS)
  lookAgain(): void {
    this.wake(null);
  }

  private wait(request: ClaimRequest, waitMs: number, gone: AbortSignal): Promise<HeldExecution[]> {
    if (gone.aborted) return Promise.resolve([]);
    const line = this.lineOf(request);
    return new Promise((resolve) => {
      const answer = (held: HeldExecution[]): void => {
        cancelTimeout();
        gone.removeEventListener('abort', giveUp);
        this.leave(line, waiter);
        resolve(held);
      };
      const giveUp = (): void => answer([]);
      const waiter = { request, answer };
      const cancelTimeout = this.clock.at(this.clock.now() + waitMs, giveUp);
      gone.addEventListener('abort', giveUp, { once: true });
      line.waiters.add(waiter);
      line.isHungry = true;
      this.serve(line);
    });
  }

  private release(): void {
    for (const { waiters } of this.lines.values()) waiters.forEach(({ answer }) => answer([]));
  }

  private lookAnew(agent: string | null): void {
    this.claims.lookAnew(agent);
    this.wake(agent);
  }

  /** Null: any agent may have something. */
  private wake(agent: string | null): void {
    for (const line of this.lines.values()) {
      if (agent !== null && !line.agents.includes(agent)) continue;
      line.isHungry = true;
      this.serve(line);
    }
  }

  private serve(line: Line): void {
    if (line.isServed) return;
    line.isServed = true;
    void this.serveHungry(line);
  }

  private async serveHungry(line: Line): Promise<void> {
    for (;;) {
      const [waiter] = line.waiters;
      if (!waiter || !line.isHungry) {
        line.isServed = false;
        return;
      }
      line.isHungry = false;
      try {
        const held = await this.claims.claim(waiter.request);
        if (held.length === 0) continue;
        line.isHungry = true;
        if (line.waiters.has(waiter)) waiter.answer(held);
        // Nobody else may have it: it is claimed in the name of who has left.
        else await this.claims.handBack(held);
      } catch (error) {
        this.logger.warn({ err: error }, 'executions that somebody waits for could not be claimed; trying again');
      }
    }
  }

  private lineOf({ agents, assignee }: ClaimRequest): Line {
    const key = JSON.stringify([agents, assignee]);
    let line = this.lines.get(key);
    if (!line) this.lines.set(key, (line = { key, agents, waiters: new Set(), isHungry: false, isServed: false }));
    return line;
  }

  private leave(line: Line, waiter: Waiter): void {
    line.waiters.delete(waiter);
    if (line.waiters.size === 0 && this.lines.get(line.key) === line) this.lines.delete(line.key);
  }
}
