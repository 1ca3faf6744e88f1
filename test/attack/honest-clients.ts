import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import { type Answered, send } from './requests.ts';

const CLIENTS = 6;
const EVERY_MS = 250;
const WITHIN_MS = 5_000;

/** Clients that publish and read at a rate that the service handles easily. */
export class HonestClients {
  /** How many requests were answered. */
  served = 0;
  readonly refusals = new Set<string>();
  readonly #url: string;
  readonly #signal: AbortSignal;
  readonly #agent = new Agent({ keepAlive: true });
  #published = 0;

  constructor(url: string, signal: AbortSignal) {
    this.#url = url;
    this.#signal = signal;
  }

  /** Resolves after the signal. */
  async work(): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, () => this.#client()));
    this.#agent.destroy();
  }

  async #client(): Promise<void> {
    // Spreads the clients over time.
    await delay(Math.random() * EVERY_MS);
    while (!this.#signal.aborted) {
      const pause = delay(EVERY_MS);
      this.#published += 1;
      const n = this.#published;
      const correlation = `honest-${process.pid}-${n}`;
      const published = await this.#ask('/api/v1/artifacts/sync', { type: 'Ping', payload: { n } }, correlation);
      if (published.status === 200) {
        await this.#ask(`/api/v1/artifacts?correlation_id=${correlation}`);
        await this.#ask(`/api/v1/correlations/${correlation}/status`);
      }
      await pause;
    }
  }

  async #ask(path: string, body?: object, correlation?: string): Promise<Answered> {
    const headers: Record<string, string> = correlation === undefined ? {} : { 'x-correlation-id': correlation };
    const answer = await send(this.#url, {
      path,
      body,
      headers,
      agent: this.#agent,
      timeoutMs: WITHIN_MS,
      signal: this.#signal,
    });
    if (answer.status === 200 && answer.error === undefined) this.served += 1;
    else if (!this.#signal.aborted)
      this.refusals.add(
        `${path.replace(/[?/][^?]*honest.*/, '')}: ${answer.error ?? `${answer.status} ${answer.text}`}`,
      );
    return answer;
  }
}
