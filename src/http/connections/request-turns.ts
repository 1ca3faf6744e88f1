import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import { scheduler } from '../../common/scheduler.js';

/** Requests take less in one turn of the event loop, unless hundreds arrive together or a few are expensive. */
const LONGEST_TURN_MS = 25;

/**
 * While connections are accepted, requests begin at least this often. Node parses a packet of 1,000 requests in 30 ms, and
 * does so for one connection after the other.
 */
const LONGEST_REST_MS = 250;

/** An orchestrator kills a process that does not answer it within a second. It asks neither the database nor the executor. */
const URGENT = '/health/live';

/** How many requests may begin before the list of those that wait is shortened. */
const SHORTENED_AFTER = 1_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
type Begin = () => void;

/**
 * Spreads requests that arrive together over several turns of the event loop, in their order, so that a health check does
 * not wait for hundreds of them:
 *
 * - Node hands over everything that has arrived in one turn. Requests begin together for some milliseconds only, and the
 *   others in the next turns. Those milliseconds matter: what requests of one turn store goes into one transaction.
 * - libuv accepts one connection in a turn. While connections are accepted, more of them may wait, so requests begin only
 *   now and then. If the requests of the first of 400 connections began immediately, the last one would wait for 400
 *   turns that are full of work.
 */
export function takeTurns(server: Server): void {
  const handlers = server.listeners('request') as Handler[];
  const turns = new Turns();
  server.removeAllListeners('request');
  server.on('connection', () => turns.accepted());
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const begin = (): void => {
      // The handlers would wait for the end of a body, or of an answer, that never comes.
      if (request.socket.destroyed) return;
      for (const handler of handlers) handler.call(server, request, response);
    };
    if (request.url === URGENT || turns.isFree()) return begin();
    let isWaiting = true;
    turns.wait(() => {
      isWaiting = false;
      request.socket.resume();
      begin();
    });
    // If a client says that it has nothing more to send, Node destroys the connection of an unread request.
    // It would continue to read the connection if this happened before it has parsed the packet.
    scheduler.later(() => {
      if (isWaiting) request.socket.pause();
    });
  });
}

class Turns {
  /** A place is empty after its request has begun, so that the request is not kept in memory by those behind it. */
  private readonly waiting: (Begin | undefined)[] = [];
  /** How many at the beginning of `waiting` have begun. */
  private begun = 0;
  /** Whether connections were accepted in this turn or the last one. */
  private isAccepting = false;
  private hasAccepted = false;
  /** In ms of `scheduler.elapsed`; null while nothing has begun in this turn. */
  private endsAt: number | null = null;
  /** Until then, nothing begins while connections are accepted. */
  private restsUntil = -Infinity;
  private isEndDue = false;

  accepted(): void {
    this.hasAccepted = this.isAccepting = true;
    this.endLater();
  }

  /** Whether a request may begin now. */
  isFree(): boolean {
    return this.waiting.length === 0 && this.isOpen();
  }

  wait(begin: Begin): void {
    this.waiting.push(begin);
    this.endLater();
  }

  private isOpen(): boolean {
    const now = scheduler.elapsed();
    if (this.endsAt === null) {
      if (this.isAccepting && now < this.restsUntil) return false;
      this.endsAt = now + LONGEST_TURN_MS;
      this.endLater();
    }
    return now < this.endsAt;
  }

  private endLater(): void {
    if (this.isEndDue) return;
    this.isEndDue = true;
    scheduler.later(this.endTurn);
  }

  private readonly endTurn = (): void => {
    this.isEndDue = false;
    if (this.endsAt !== null) this.restsUntil = scheduler.elapsed() + LONGEST_REST_MS;
    this.endsAt = null;
    this.isAccepting = this.hasAccepted;
    this.hasAccepted = false;
    this.beginNext();
    if (this.isAccepting || this.waiting.length > 0) this.endLater();
  };

  private readonly beginNext = (): void => {
    if (this.waiting.length === 0 || !this.isOpen()) return;
    const begin = this.waiting[this.begun]!;
    this.waiting[this.begun] = undefined;
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
