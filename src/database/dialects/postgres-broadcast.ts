import { setTimeout as delay } from 'node:timers/promises';

import type { Client } from 'pg';

import { newId } from '../../common/ids.js';
import type { Logger } from '../../common/logger.js';
import { Broadcast } from '../broadcast.js';
import type { PostgresDatabase } from './postgres-database.js';

const CHANNEL = 'starling';
/** Bytes. Postgres accepts payloads below 8,000. */
const LONGEST_PAYLOAD = 7_500;
const MOST_WAITING = 10_000;
const CONNECT_AGAIN_MS = 1_000;
/** A listener gets no event when its connection dies, so a query checks it this often. */
const STILL_THERE_MS = 5_000;
const LAST_WORDS_MS = 1_000;

/**
 * LISTEN and NOTIFY on a separate connection. NOTIFY in a transaction takes a lock for which all commits of the cluster
 * queue. It is therefore sent outside of transactions, one at a time, and texts that arrive meanwhile go with the next
 * one.
 */
export class PostgresBroadcast extends Broadcast {
  private readonly process = newId();
  private readonly listeners: ((text: string | null) => void)[] = [];
  private readonly waiting = new Set<string>();
  private client: Client | null = null;
  private sending: Promise<void> | null = null;
  private closed = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: PostgresDatabase,
    private readonly logger: Logger,
  ) {
    super();
  }

  send(text: string): void {
    // The queue is bounded. If this much is waiting, it is enough that the others read the database from time to time.
    if (this.waiting.size < MOST_WAITING) this.waiting.add(text);
    void this.flush();
  }

  listen(listener: (text: string | null) => void): void {
    this.listeners.push(listener);
  }

  /** Resolves when it listens for the first time or the first attempt failed. It then continues to try. */
  async open(): Promise<void> {
    if (this.closed) return;
    const client = this.database.client();
    client.on('error', () => this.lost(client));
    client.on('end', () => this.lost(client));
    client.on('notification', ({ payload }) => this.receive(payload ?? ''));
    this.client = client;
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      this.emit(null);
      this.checkLater(client);
      void this.flush();
    } catch (error) {
      this.logger.warn({ err: error }, 'cannot listen to other processes; trying again');
      this.lost(client);
    }
  }

  /** Waits a moment for the texts being sent, such as that this process has ended, and closes the connection. */
  async close(): Promise<void> {
    await Promise.race([this.sending, delay(LAST_WORDS_MS, undefined, { ref: false })]);
    this.closed = true;
    clearTimeout(this.timer);
    const { client } = this;
    this.client = null;
    await client?.end().catch(() => undefined);
  }

  private flush(): Promise<void> {
    return (this.sending ??= this.sendWaiting());
  }

  private async sendWaiting(): Promise<void> {
    // Waits for the current turn of the event loop to end, so that its texts go with this notification.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.size > 0 && this.client && !this.closed) {
      const payload = JSON.stringify({ from: this.process, texts: this.nextTexts() });
      try {
        await this.client.query('select pg_notify($1, $2)', [CHANNEL, payload]);
      } catch (error) {
        this.logger.debug({ err: error }, 'other processes could not be notified');
        break;
      }
    }
    // This is not in a `finally` callback, because a text that arrived before it ran would stay in the queue.
    this.sending = null;
  }

  private nextTexts(): string[] {
    const texts: string[] = [];
    let size = 0;
    for (const text of this.waiting) {
      // The escaped size, because quotes within a text are escaped.
      size += Buffer.byteLength(JSON.stringify(text)) + 1;
      if (size > LONGEST_PAYLOAD && texts.length > 0) break;
      this.waiting.delete(text);
      texts.push(text);
    }
    return texts;
  }

  private receive(payload: string): void {
    const { from, texts } = JSON.parse(payload) as { from: string; texts: string[] };
    if (from !== this.process) texts.forEach((text) => this.emit(text));
  }

  private emit(text: string | null): void {
    for (const listener of this.listeners) {
      try {
        listener(text);
      } catch (error) {
        this.logger.error({ err: error }, 'handling a wake-up from another process failed');
      }
    }
  }

  private checkLater(client: Client): void {
    this.timer = setTimeout(() => {
      let answered = false;
      client.query('select 1').then(
        () => (answered = true),
        () => undefined,
      );
      this.timer = setTimeout(() => (answered ? this.checkLater(client) : this.lost(client)), STILL_THERE_MS).unref();
    }, STILL_THERE_MS).unref();
  }

  private lost(client: Client): void {
    if (this.client !== client || this.closed) return;
    this.client = null;
    clearTimeout(this.timer);
    // This is not `end`, which would wait for a server that no longer answers.
    (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    this.timer = setTimeout(() => void this.open(), CONNECT_AGAIN_MS).unref();
  }
}
