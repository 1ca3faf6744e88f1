import { scheduler } from '../../src/common/scheduler.js';
import type { Random } from '../support/random.js';

const LATENCY_MS = 5;
const TRY_AGAIN_MS = 1_000;

/** A request that is repeated until it is answered, as one with an idempotency key may be. */
interface Open {
  send: () => Promise<unknown>;
  answered: () => void;
  /** Called if the answer is an error that is not followed by another try. */
  refused?: () => void;
  isRepeated: boolean;
}

/** Requests of clients, over a network that takes time. */
export class Requests {
  private readonly waiting = new Set<Open>();

  constructor(
    private readonly random: Random,
    private readonly onUnexpected: (error: unknown) => void,
  ) {}

  /** How many have no answer. */
  get open(): number {
    return this.waiting.size;
  }

  /** Requests that were under way get no answer. Those that may be repeated are sent again. */
  crashed(): void {
    for (const request of this.waiting)
      if (request.isRepeated) this.send(request);
      else this.waiting.delete(request);
  }

  begin(request: Open): void {
    this.waiting.add(request);
    this.send(request);
  }

  private send(request: Open): void {
    scheduler.after(this.random.next() * LATENCY_MS, () => {
      request.send().then(
        () => this.afterNetwork(() => this.answered(request)),
        (error: unknown) => this.afterNetwork(() => this.refused(request, error)),
      );
    });
  }

  private afterNetwork(callback: () => void): void {
    scheduler.after(this.random.next() * LATENCY_MS, callback);
  }

  private answered(request: Open): void {
    this.waiting.delete(request);
    request.answered();
  }

  private refused(request: Open, error: unknown): void {
    const { code } = error as { code?: string };
    if (code === 'unavailable' && request.isRepeated) scheduler.after(TRY_AGAIN_MS, () => this.send(request));
    else {
      this.waiting.delete(request);
      request.refused?.();
      if (code !== 'unavailable' && code !== 'conflict' && code !== 'not_found') this.onUnexpected(error);
    }
  }
}
