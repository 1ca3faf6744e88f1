import { setTimeout } from 'node:timers/promises';

import { type Entry, type Reader, SseReader, WebSocketReader } from '../../support/changelog-readers.js';
import type { Random } from '../../support/random.js';

const LONGEST_SESSION_MS = 1_500;
const LONGEST_PAUSE_MS = 300;

/** A reader that disconnects and resumes at random, on any service that is up, in either protocol. */
export class RoamingReader {
  /** The entries of all its sessions, one after another. */
  readonly entries: Entry[] = [];
  sessions = 0;
  begunBehind = NaN;
  private position: number | undefined;
  private reader: Reader | null = null;
  private isRoaming = true;
  private readonly roaming: Promise<void>;

  constructor(
    private readonly random: Random,
    private readonly correlation: string | undefined,
    private readonly nextUrl: () => string | undefined,
  ) {
    this.roaming = this.roam();
  }

  asksFor(entry: Entry): boolean {
    return (
      entry.seq > this.begunBehind && (this.correlation === undefined || entry.correlation_id === this.correlation)
    );
  }

  /** Stays with the current session, or with the next one. */
  async settle(): Promise<void> {
    this.isRoaming = false;
    await this.roaming;
  }

  /** The entries of the last session are added only when it is closed. */
  get count(): number {
    return this.entries.length + (this.reader?.entries.length ?? 0);
  }

  close(): void {
    if (!this.reader) return;
    this.entries.push(...this.reader.entries);
    this.position = this.reader.position;
    this.reader.close();
    this.reader = null;
  }

  private async roam(): Promise<void> {
    for (;;) {
      await this.connect();
      if (!this.isRoaming) return;
      await this.whileConnected(this.random.between(0, LONGEST_SESSION_MS));
      if (!this.isRoaming && !this.reader!.hasEnded) return;
      this.close();
      await setTimeout(this.random.between(0, LONGEST_PAUSE_MS));
    }
  }

  private async whileConnected(ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (performance.now() < end && !this.reader!.hasEnded) await setTimeout(20);
  }

  private async connect(): Promise<void> {
    while (!this.reader) {
      const url = this.nextUrl();
      const parts = {
        ...(this.correlation && { correlation_id: this.correlation }),
        ...(this.position !== undefined && { after: this.position }),
      };
      try {
        if (url !== undefined)
          this.reader = await (this.random.next() < 0.5
            ? SseReader.open(url, parts)
            : WebSocketReader.open(url, parts));
      } catch {
        // Killed, or starting.
      }
      // A WebSocket may have closed before it began.
      if (this.reader && Number.isNaN(this.reader.begunBehind)) this.reader = null;
      if (!this.reader) await setTimeout(50);
    }
    this.sessions += 1;
    if (Number.isNaN(this.begunBehind)) this.begunBehind = this.reader.begunBehind;
  }
}
