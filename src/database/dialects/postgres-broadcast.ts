import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Logger } from '../../common/logger.js';
import { newId } from '../../common/ids.js';
import { Broadcast } from '../broadcast.js';
import type { PostgresDatabase } from './postgres-database.js';

const CHANNEL = 'starling';
/** Postgres takes payloads below 8,000 bytes. */
const LONGEST_PAYLOAD = 7_500;
const MOST_WAITING = 10_000;
const CONNECT_AGAIN_MS = 1_000;
/** A listener does not learn that its connection is dead; a question that stays without an answer shows it. */
const STILL_THERE_MS = 5_000;
const LAST_WORDS_MS = 1_000;

/**
 * LISTEN and NOTIFY on a connection of their own. A NOTIFY within a transaction takes a lock that all of the cluster's
 * commits queue for, so it is sent on its own, one at a time: what comes up meanwhile goes with the next.
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
    // With so much that nobody takes, the others' own look at the database is soon enough.
    if (this.waiting.size < MOST_WAITING) this.waiting.add(text);
    void this.flush();
  }

  listen(listener: (text: string | null) => void): void {
    this.listeners.push(listener);
  }

  /** Resolves when it listens for the first time, or has failed to; then it goes on trying. */
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

  /** What was said last, such as that this process leaves, still goes out where the server takes it soon. */
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
    // After what is being done now, so that what it says too goes along.
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
    // Here and not in a callback: what is said in between would be left waiting.
    this.sending = null;
  }

  private nextTexts(): string[] {
    const texts: string[] = [];
    let size = 0;
    for (const text of this.waiting) {
      // As it will be written: quotes within are escaped.
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
        this.logger.error({ err: error }, 'a wake-up of another process failed');
      }
    }
  }

  private checkLater(client: Client): void {
    this.timer = setTimeout(() => {
      let answered = false;
      client.query('select 1').then(() => (answered = true), () => undefined);
      this.timer = setTimeout(() => (answered ? this.checkLater(client) : this.lost(client)), STILL_THERE_MS).unref();
    }, STILL_THERE_MS).unref();
  }

  private lost(client: Client): void {
    if (this.client !== client || this.closed) return;
    this.client = null;
    clearTimeout(this.timer);
    // Not `end`, which would wait for a server that no longer answers.
    (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    this.timer = setTimeout(() => void this.open(), CONNECT_AGAIN_MS).unref();
  }
}
