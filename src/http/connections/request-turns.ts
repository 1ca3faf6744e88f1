import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import { scheduler } from '../../common/scheduler.js';

/** Requests take less in one turn of the event loop, unless hundreds arrive together or a few are expensive. */
const LONGEST_TURN_MS = 25;

/** An orchestrator kills a process that does not answer it within a second. It asks neither the database nor the executor. */
const URGENT = '/health/live';

/** How many requests may begin before the list of those that wait is shortened. */
const SHORTENED_AFTER = 1_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
type Begin = () => void;

/**
 * Spreads requests that arrive together over several turns of the event loop, in their order. Node hands over everything
 * that has arrived in one turn, so a few hundred requests would keep all later connections waiting for seconds, the
 * health check too. Requests still begin together for some milliseconds, because what they store then goes into one
 * transaction.
 */
export function takeTurns(server: Server): void {
  const handlers = server.listeners('request') as Handler[];
  const turns = new Turns();
  server.removeAllListeners('request');
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const begin = (): void => {
      // The handlers would wait for the end of a body, or of an answer, that never comes.
      if (request.socket.destroyed) return;
      for (const handler of handlers) handler.call(server, request, response);
    };
    if (request.url === URGENT) begin();
    else turns.take(begin);
  });
}

class Turns {
  private readonly waiting: Begin[] = [];
  /** How many at the beginning of `waiting` have begun. */
  private begun = 0;
  /** In ms of `scheduler.elapsed`; null until something begins in this turn. */
  private endsAt: number | null = null;

  take(begin: Begin): void {
    if (this.waiting.length === 0 && this.hasTime()) begin();
    else this.waiting.push(begin);
  }

  private hasTime(): boolean {
    if (this.endsAt === null) {
      this.endsAt = scheduler.elapsed() + LONGEST_TURN_MS;
      scheduler.later(() => {
        this.endsAt = null;
        this.beginNext();
      });
    }
    return scheduler.elapsed() < this.endsAt;
  }

  private readonly beginNext = (): void => {
    if (this.waiting.length === 0 || !this.hasTime()) return;
    const begin = this.waiting[this.begun]!;
    this.begun += 1;
    if (this.begun === this.waiting.length || this.begun === SHORTENED_AFTER) {
      this.waiting.splice(0, this.begun);
      this.begun = 0;
    }
    begin();
    // The microtasks that follow from it come first, so that their time counts.
    queueMicrotask(() => process.nextTick(this.beginNext));
  };
}
