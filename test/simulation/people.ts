import type { HeldExecution } from '../../src/blackboard/external/claim-request.js';
import { ExternalLeases } from '../../src/blackboard/external/external-leases.js';
import { WaitingClaims } from '../../src/blackboard/external/waiting-claims.js';
import { scheduler } from '../../src/common/scheduler.js';
import type { Random } from '../support/random.js';
import type { SimulatedService } from './simulated-service.js';

const PEOPLE = ['anna', 'ben'];
const LATENCY_MS = 5;
const BREAK_MS = 400;
const WORK_MS = 3_000;
const WAIT_MS = 20_000;

/** People who claim the work of the agents `approver` and `mover`, and complete, fail, release or forget it. */
export class People {
  constructor(
    private readonly random: Random,
    private readonly service: () => SimulatedService,
    private readonly onUnexpected: (error: unknown) => void,
  ) {}

  /** After a crash they begin again: the leases of what they held are still theirs, and they have forgotten them. */
  begin(): void {
    for (const name of PEOPLE) this.look(name);
  }

  private look(name: string): void {
    this.within(BREAK_MS, () => {
      const request = { agents: ['approver', 'mover'], max: 2, assignee: null, claimedBy: name };
      const wait = this.random.next() < 0.1 ? 0 : WAIT_MS;
      this.service()
        .get(WaitingClaims)
        .claim(request, wait, new AbortController().signal)
        .then((held) => this.within(LATENCY_MS, () => held.forEach((one) => this.work(one))), this.unlessRefused)
        .finally(() => this.look(name));
    });
  }

  private work(held: HeldExecution): void {
    this.within(WORK_MS, () => {
      const chance = this.random.next();
      if (chance < 0.1) return;
      this.end(held, chance).then(() => {
        // An answer may be lost, and the same request then comes again.
        if (this.random.next() < 0.2)
          this.within(LATENCY_MS, () => void this.end(held, chance).catch(this.unlessRefused));
      }, this.unlessRefused);
    });
  }

  private end({ id, token }: HeldExecution, chance: number): Promise<void> {
    const leases = this.service().get(ExternalLeases);
    if (chance < 0.2) return leases.fail(id, token, { type: 'Tired', message: 'ask me tomorrow', isFinal: false });
    if (chance < 0.3) return leases.release(id, token);
    return leases.complete(id, token, { granted: true });
  }

  private readonly unlessRefused = (error: unknown): void => {
    const { code } = error as { code?: string };
    if (code !== 'conflict' && code !== 'unavailable') this.onUnexpected(error);
  };

  private within(ms: number, callback: () => void): void {
    scheduler.after(this.random.next() * ms, callback);
  }
}
