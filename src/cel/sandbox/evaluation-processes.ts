import { DomainError } from '../../common/domain-error.js';
import { EVALUATION_PROCESSES, MOST_WAITING } from '../language/expression-limits.js';
import type { EvaluationResult } from '../language/expression-program.js';
import { EvaluationProcess } from './evaluation-process.js';

interface Waiting {
  source: string;
  variables: object;
  resolve(result: EvaluationResult): void;
  reject(error: Error): void;
}

/** The evaluation processes of this server. They start when they are first needed and are replaced when they end. */
export class EvaluationProcesses {
  private readonly queue = new FairQueue<Waiting>();
  private readonly places = Array.from({ length: EVALUATION_PROCESSES }, () => new Place());
  private closed = false;

  /** Rejects with a DomainError `unavailable` if too many evaluations wait, if no process starts, or after `close`. */
  evaluate(source: string, variables: object): Promise<EvaluationResult> {
    if (this.closed) return Promise.reject(unavailable('the server is stopping'));
    if (this.queue.size >= MOST_WAITING) return Promise.reject(unavailable('too many are waiting'));
    return new Promise((resolve, reject) => {
      this.queue.add(source, { source, variables, resolve, reject });
      // Prefers a started process, so that no further one is started without need.
      const free = this.places.filter(({ busy }) => !busy);
      const place = free.find(({ started }) => started) ?? free[0];
      if (place) void this.work(place);
    });
  }

  /** Ends the processes. Running and waiting evaluations are rejected. */
  async close(): Promise<void> {
    this.closed = true;
    for (let waiting = this.queue.take(); waiting; waiting = this.queue.take())
      waiting.reject(unavailable('the server is stopping'));
    await Promise.all(this.places.map((place) => place.close()));
  }

  private async work(place: Place): Promise<void> {
    place.busy = true;
    for (let waiting = this.queue.take(); waiting; waiting = this.queue.take()) {
      const began = performance.now();
      await place.evaluate(waiting.source, waiting.variables).then(waiting.resolve, waiting.reject);
      this.queue.spend(waiting.source, performance.now() - began);
    }
    place.busy = false;
  }
}

/** Holds one evaluation process at a time. */
class Place {
  busy = false;
  private process: Promise<EvaluationProcess> | undefined;
  private closed = false;

  get started(): boolean {
    return this.process !== undefined;
  }

  async evaluate(source: string, variables: object): Promise<EvaluationResult> {
    // Tries a second time if the process was ended from outside, because this evaluation did not cause it.
    const result = (await this.evaluateOnce(source, variables)) ?? (await this.evaluateOnce(source, variables));
    if (!result) throw unavailable('the evaluation process was ended from outside');
    return result;
  }

  async close(): Promise<void> {
    this.closed = true;
    // A process that did not start has already ended.
    await this.process?.then(
      (process) => process.stop(),
      () => undefined,
    );
  }

  private async evaluateOnce(source: string, variables: object): Promise<EvaluationResult | null> {
    if (this.closed) throw unavailable('the server is stopping');
    const process = await (this.process ?? this.start());
    const result = process.alive ? await process.evaluate(source, variables) : null;
    // Starts immediately, so that the next evaluation does not have to wait.
    if (!process.alive && !this.closed) this.start().catch(() => undefined);
    return result;
  }

  private start(): Promise<EvaluationProcess> {
    const process = EvaluationProcess.start().catch((cause: unknown) => {
      this.process = undefined;
      throw unavailable('the evaluation process does not start', cause);
    });
    this.process = process;
    return process;
  }
}

const unavailable = (reason: string, cause?: unknown): DomainError =>
  new DomainError('unavailable', `Expressions cannot be evaluated now because ${reason}; try again`, {
    retryAfterSeconds: 1,
    cause,
  });

interface KeyQueue<Item> {
  items: Item[];
  spentMs: number;
}

/**
 * First in, first out for each key. Among the keys, the one that has used the least time comes next, so that slow items
 * delay only their own key. Keys are never removed.
 */
class FairQueue<Item> {
  private readonly queues = new Map<string, KeyQueue<Item>>();
  private count = 0;
  /**
   * The time used by the last served key. A key that returns after a pause starts from it and gets no credit for the
   * pause.
   */
  private servedMs = 0;

  get size(): number {
    return this.count;
  }

  add(key: string, item: Item): void {
    const queue = this.queueOf(key);
    if (queue.items.length === 0) queue.spentMs = Math.max(queue.spentMs, this.servedMs);
    queue.items.push(item);
    this.count++;
  }

  take(): Item | undefined {
    let next: KeyQueue<Item> | undefined;
    for (const queue of this.queues.values()) {
      if (queue.items.length > 0 && (!next || queue.spentMs < next.spentMs)) next = queue;
    }
    if (!next) return undefined;
    this.servedMs = next.spentMs;
    this.count--;
    return next.items.shift();
  }

  /** Records how long an item of this key took. */
  spend(key: string, ms: number): void {
    this.queueOf(key).spentMs += ms;
  }

  private queueOf(key: string): KeyQueue<Item> {
    let queue = this.queues.get(key);
    if (!queue) this.queues.set(key, (queue = { items: [], spentMs: this.servedMs }));
    return queue;
  }
}
