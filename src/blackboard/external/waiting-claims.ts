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
/** Agents of people that one transaction looks for: SQLite takes no more than 32,766 parameters, and is nobody else's meanwhile. */
const ASKED_AT_ONCE = 500;
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
  /** Whose executions they take; null: nobody's. */
  assignee: string | null;
  /** In the order of their coming. */
  waiters: Set<Waiter>;
  /** Whether there may be something for them. */
  isHungry: boolean;
  isServed: boolean;
}

type PersonsLine = Line & { assignee: string };

const isPersons = (line: Line): line is PersonsLine => line.assignee !== null;

const nameOf = (agent: string, assignee: string): string => JSON.stringify([agent, assignee]);

/**
 * Claims that wait until there is something to claim. However many wait for the same, a wake-up has as many of them look as find
 * something, and one more. People each wait for something else: for what is theirs, one looks for all of them.
 */
@Injectable()
export class WaitingClaims {
  private readonly lines = new Map<string, Line>();
  private isLooking = false;

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
   * nevertheless is handed back. DomainError as `ExternalClaims.checkRequest` says, and `unavailable` where the process is ending already.
   */
  async claim(request: ClaimRequest, waitMs: number, gone: AbortSignal): Promise<HeldExecution[]> {
    await this.claims.checkRequest(request);
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
      this.feed(line);
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
      if (agent === null || line.agents.includes(agent)) this.feed(line);
    }
  }

  private feed(line: Line): void {
    line.isHungry = true;
    if (line.assignee === null) this.serve(line);
    else if (!this.isLooking) void this.lookForAssignees();
  }

  private async lookForAssignees(): Promise<void> {
    this.isLooking = true;
    try {
      for (let asking = this.hungryAssignees(); asking.length > 0; asking = this.hungryAssignees()) {
        for (const line of asking) line.isHungry = false;
        const asked = asking.flatMap(({ agents, assignee }) => agents.map((agent) => ({ agent, assignee })));
        const found = new Set((await this.claims.waitingAmong(asked)).map(({ agent, assignee }) => nameOf(agent, assignee)));
        for (const line of asking.filter(({ agents, assignee }) => agents.some((agent) => found.has(nameOf(agent, assignee))))) {
          line.isHungry = true;
          this.serve(line);
        }
      }
    } catch (error) {
      this.logger.warn({ err: error }, 'what is assigned to those who wait could not be looked for; trying again');
    } finally {
      this.isLooking = false;
    }
  }

  /** Those that are served look by themselves. */
  private hungryAssignees(): PersonsLine[] {
    const hungry: PersonsLine[] = [];
    let asked = 0;
    for (const line of this.lines.values()) {
      if (!isPersons(line) || !line.isHungry || line.isServed) continue;
      hungry.push(line);
      asked += line.agents.length;
      if (asked >= ASKED_AT_ONCE) break;
    }
    return hungry;
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
    if (!line) this.lines.set(key, (line = { key, agents, assignee, waiters: new Set(), isHungry: false, isServed: false }));
    return line;
  }

  private leave(line: Line, waiter: Waiter): void {
    line.waiters.delete(waiter);
    if (line.waiters.size === 0 && this.lines.get(line.key) === line) this.lines.delete(line.key);
  }
}
