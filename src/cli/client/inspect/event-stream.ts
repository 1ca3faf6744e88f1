import type { Readable } from 'node:stream';

import type { Server } from '../server.js';

/** The server sends something every 15 s, so a longer silence is a lost connection. */
const LONGEST_SILENCE_MS = 45_000;

/** Server-sent events that continue after a lost connection where they have stopped. */
export class EventStream {
  /** The id of the last complete event; null before the first. */
  position: string | null = null;
  private lines: AsyncGenerator<string> = linesOf([]);

  constructor(
    private readonly server: Server,
    private readonly path: string,
    private readonly signal: AbortSignal,
  ) {}

  async connect(): Promise<void> {
    const after: Record<string, string> = this.position === null ? {} : { 'Last-Event-ID': this.position };
    const answer = await this.server.stream(this.path, 'text/event-stream', this.signal, {
      headers: after,
      longestSilenceMs: LONGEST_SILENCE_MS,
    });
    this.lines = linesOf(answer.setEncoding('utf8'));
  }

  /**
   * Returns the next event; null if the server only gave its position; an error if the connection is lost. Rejects with
   * the signal's reason if the signal aborts.
   */
  async next(): Promise<unknown> {
    let [id, data]: [string | null, string | null] = [null, null];
    try {
      for (;;) {
        const { value: line, done } = await this.lines.next();
        if (done) throw new Error('the stream ended');
        if (line === '') break;
        if (line.startsWith('id: ')) id = line.slice('id: '.length);
        if (line.startsWith('data: ')) data = line.slice('data: '.length);
      }
    } catch (error) {
      this.signal.throwIfAborted();
      return this.server.lost(error, 'GET');
    }
    this.position = id ?? this.position;
    return data === null ? null : JSON.parse(data);
  }
}

async function* linesOf(stream: Readable | Iterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const part of stream) {
    const lines = (rest + String(part)).split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}
