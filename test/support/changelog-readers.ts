import { type ClientRequest, get, type IncomingMessage } from 'node:http';

import { WebSocket } from 'ws';

import { eventually } from './eventually.js';

/** An entry or a live event. */
export interface Entry {
  seq: number;
  event_type: string;
  artifact_id: string;
  artifact_type: string;
  produced_by: string;
  correlation_id: string;
  to_seq?: number;
  replay?: boolean;
}

export interface ReadParts {
  correlation_id?: string | string[];
  artifact_type?: string | string[];
  produced_by?: string | string[];
  after?: number;
  live?: boolean;
  replay?: boolean;
}

/** A reader of the changelog, in one protocol. */
export interface Reader {
  /** Entries without live events, in the order of arrival. */
  readonly entries: Entry[];
  readonly liveEvents: Entry[];
  /** Both, in the order of arrival. */
  readonly all: Entry[];
  /** The position at which it began. */
  readonly begunBehind: number;
  /** The position at which it would resume. */
  readonly position: number;
  readonly hasEnded: boolean;
  /** Reads nothing until `resume`. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Returns each live event that came before an entry about the same artifact or execution, in the order of arrival. */
export function liveEventsBeforeEntries(all: readonly Entry[]): Entry[] {
  return all.filter(({ event_type: type, artifact_id: id, correlation_id: correlation }, index) => {
    const isLater = (isAbout: (entry: Entry) => boolean): boolean =>
      all.slice(index).some((entry) => entry.event_type === 'artifact_published' && isAbout(entry));
    if (type === 'artifact_consumed') return isLater((entry) => entry.artifact_id === id);
    return type === 'correlation_settled' && isLater((entry) => entry.correlation_id === correlation);
  });
}

/** Opens a reader, or rejects with the status and body of the refusal. */
export type OpenReader = (url: string, parts?: ReadParts) => Promise<Reader>;

export const queryOf = (parts: ReadParts): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parts)) for (const one of [value].flat()) query.append(name, String(one));
  return query.toString();
};

/** Parses the fields of complete server-sent events (WHATWG HTML, section 9.2.6). */
export class EventParser {
  comments: string[] = [];
  private rest = '';

  constructor(private readonly onEvent: (event: { name: string; data: string; id: string | null }) => void) {}

  add(text: string): void {
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop()!;
    for (const block of blocks) {
      const fields = block.split('\n').map((line) => /^([^:]*):? ?(.*)$/.exec(line)!.slice(1) as [string, string]);
      const all = (name: string): string[] => fields.filter(([field]) => field === name).map(([, value]) => value);
      this.comments.push(...all(''));
      this.onEvent({
        name: all('event').at(-1) ?? 'message',
        data: all('data').join('\n'),
        id: all('id').at(-1) ?? null,
      });
    }
  }
}

export class SseReader implements Reader {
  readonly entries: Entry[] = [];
  readonly liveEvents: Entry[] = [];
  readonly all: Entry[] = [];
  readonly parser: EventParser;
  begunBehind = NaN;
  position = NaN;
  hasEnded = false;

  private constructor(
    private readonly request: ClientRequest,
    readonly response: IncomingMessage,
  ) {
    this.parser = new EventParser(({ name, data, id }) => {
      if (id !== null) this.position = Number(id);
      if (Number.isNaN(this.begunBehind)) this.begunBehind = this.position;
      if (data === '') return;
      const event = JSON.parse(data) as Entry;
      this.all.push(event);
      (name === 'message' ? this.entries : this.liveEvents).push(event);
    });
    response.setEncoding('utf8').on('data', (text: string) => this.parser.add(text));
    response.on('error', () => undefined).on('close', () => (this.hasEnded = true));
  }

  static async open(url: string, parts: ReadParts = {}, headers: Record<string, string> = {}): Promise<SseReader> {
    const request = get(`${url}/api/v1/changelog/stream?${queryOf(parts)}`, { headers, agent: false });
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      request.once('response', resolve).once('error', reject),
    );
    request.on('error', () => undefined);
    if (response.statusCode !== 200)
      throw new Error(`${response.statusCode} ${(await response.setEncoding('utf8').toArray()).join('')}`);
    const reader = new SseReader(request, response);
    await eventually('the stream has begun', () => !Number.isNaN(reader.begunBehind));
    return reader;
  }

  pause(): void {
    this.response.pause();
  }

  resume(): void {
    this.response.resume();
  }

  close(): void {
    this.request.destroy();
  }
}

export class WebSocketReader implements Reader {
  readonly entries: Entry[] = [];
  readonly liveEvents: Entry[] = [];
  readonly all: Entry[] = [];
  begunBehind = NaN;
  position = NaN;
  hasEnded = false;
  /** The code with which the service closed, and its message before. */
  closeCode = NaN;
  detail = '';

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.take(JSON.parse(data.toString()) as Entry & { detail?: string }));
    socket
      .on('error', () => undefined)
      .on('close', (code) => {
        this.closeCode = code;
        this.hasEnded = true;
      });
  }

  /** Connects without sending anything. */
  static async connect(url: string, path = '/ws', headers: Record<string, string> = {}): Promise<WebSocketReader> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers });
    const reader = new WebSocketReader(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve).once('error', reject);
      socket.once('unexpected-response', (_request, response: IncomingMessage) => {
        void response
          .setEncoding('utf8')
          .toArray()
          .then((text) => reject(new Error(`${response.statusCode} ${text.join('')}`)));
      });
    });
    return reader;
  }

  static async open(url: string, parts: ReadParts = {}, path = '/ws'): Promise<WebSocketReader> {
    const reader = await WebSocketReader.connect(url, path);
    reader.socket.send(JSON.stringify(parts));
    await eventually('the stream has begun', () => !Number.isNaN(reader.begunBehind) || reader.hasEnded);
    return reader;
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(): void {
    this.socket.terminate();
  }

  private take(message: Entry & { detail?: string }): void {
    if (message.detail !== undefined) this.detail = message.detail;
    else if (message.event_type === 'stream_opened') this.begunBehind = this.position = message.seq;
    else this.all.push(message);
    if (message.detail !== undefined || message.event_type === 'stream_opened') return;
    if (message.seq === undefined) this.liveEvents.push(message);
    else {
      this.entries.push(message);
      this.position = message.seq;
    }
  }
}
