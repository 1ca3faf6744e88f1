import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Answer, Order, Stop } from './orders.js';

const ENTRY = fileURLToPath(new URL('./ordered-process.js', import.meta.url));

/** An endless loop in an agent keeps a process from reacting. */
const LONGEST_REACTION_MS = 5_000;

/** A process with one order. It stops by itself when this process ends, however that happens. */
export class Child {
  /** Resolves with the exit code, or with the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  private hasEnded = false;
  private reacts = (): void => undefined;
  private readonly process: ChildProcess;

  constructor(order: Order, onAnswer: (answer: Answer) => void) {
    this.process = fork(ENTRY, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.process.on('message', (answer: Answer) => (answer === 'stopping' ? this.reacts() : onAnswer(answer)));
    this.ended = once(this.process, 'exit').then(([code, signal]) => {
      this.hasEnded = true;
      this.reacts();
      return (code ?? signal) as number | NodeJS.Signals;
    });
    this.process.send(order);
  }

  /** Stops it gracefully, or kills it if it does not react. Resolves when it has ended. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    if (!this.hasEnded) {
      const limit = setTimeout(() => this.kill('SIGKILL'), LONGEST_REACTION_MS);
      this.reacts = () => clearTimeout(limit);
      this.process.send({ stop: signal } satisfies Stop, () => undefined);
    }
    await this.ended;
  }

  /** Resolves with its end. If it has not ended by then, kills it and resolves with null. */
  async endsWithin(limitMs: number): Promise<number | NodeJS.Signals | null> {
    const hasEnded = new AbortController();
    const end = await Promise.race([this.ended, delay(limitMs, null, { signal: hasEnded.signal })]);
    hasEnded.abort();
    if (end === null) this.kill('SIGKILL');
    await this.ended;
    return end;
  }

  kill(signal: NodeJS.Signals): void {
    if (!this.hasEnded) this.process.kill(signal);
  }
}
