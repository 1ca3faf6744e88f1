import { type Entry, type FromConnection, type LiveEvent, type LiveState, OTHER_EVENTS } from './messages';
import { PacedRun } from './pace';

/** At most four repaints a second. */
const FLUSH_MS = 250;

/** More events than this between two flushes are not passed on one by one. */
const MOST_EVENTS = 1_000;

/** The least time between two resyncs, after each of which the tabs fetch everything again. */
const RESYNC_MS = 1_000;

const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10_000;

/** A tab says every 20 s that it is visible; one that was closed does not. */
const SILENT_MS = 60_000;

/** The stream of the changelog, shared by all tabs of a browser. It is open while at least one of them is visible. */
export class Connection {
  private source: EventSource | undefined;
  private state: LiveState = { kind: 'connecting', since: Date.now() };
  private events: LiveEvent[] = [];
  private lostEvents = 0;
  private readonly resyncs = new PacedRun(RESYNC_MS, () => this.post({ kind: 'resync', all: false }));
  private position = '';
  private waitMs = SHORTEST_WAIT_MS;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private flushing: ReturnType<typeof setTimeout> | undefined;
  /** When each visible tab was last heard. */
  private readonly visible = new Map<unknown, number>();

  constructor(
    private readonly url: string,
    private readonly post: (message: FromConnection) => void,
  ) {
    setInterval(() => this.forgetSilentTabs(), SILENT_MS);
  }

  show(tab: unknown): void {
    this.visible.set(tab, Date.now());
    if (this.source === undefined && this.retry === undefined) this.open();
    this.post({ kind: 'state', state: this.state });
  }

  hide(tab: unknown): void {
    this.visible.delete(tab);
    if (this.visible.size === 0) this.close();
  }

  private forgetSilentTabs(): void {
    for (const [tab, heardAt] of this.visible) if (Date.now() - heardAt > SILENT_MS) this.hide(tab);
  }

  private open(): void {
    this.retry = undefined;
    const after = this.position === '' ? '' : `&after=${this.position}`;
    const source = new EventSource(`${this.url}?live=true${after}`);
    this.source = source;
    source.onopen = () => this.opened();
    source.onerror = () => this.failed(source);
    source.onmessage = (message) => this.received(message);
    for (const name of OTHER_EVENTS) source.addEventListener(name, (message) => this.received(message));
  }

  private opened(): void {
    this.waitMs = SHORTEST_WAIT_MS;
    this.become('live');
  }

  private failed(source: EventSource): void {
    if (source !== this.source) return;
    this.become('away');
    // The browser connects again by itself, except after an answer that is an error.
    if (source.readyState !== EventSource.CLOSED) return;
    this.source = undefined;
    // The position may be of a database that was replaced.
    this.position = '';
    this.retry = setTimeout(() => this.open(), this.waitMs);
    this.waitMs = Math.min(this.waitMs * 2, LONGEST_WAIT_MS);
  }

  private received({ data, lastEventId }: MessageEvent<string>): void {
    this.position = lastEventId;
    const event = JSON.parse(data) as Entry | { event_type: 'gap' };
    if (event.event_type === 'gap' || this.events.length >= MOST_EVENTS) this.lostEvents += 1;
    else this.events.push(event);
    this.flushing ??= setTimeout(() => this.flush(), FLUSH_MS);
  }

  private flush(): void {
    this.flushing = undefined;
    if (this.events.length > 0) this.post({ kind: 'events', events: this.events });
    this.events = [];
    if (this.lostEvents > 0) this.resyncs.happened(this.lostEvents);
    this.lostEvents = 0;
  }

  private close(): void {
    clearTimeout(this.retry);
    this.retry = undefined;
    this.source?.close();
    this.source = undefined;
    // After a long time there would be too many entries to send; each view is fetched again instead.
    this.position = '';
    this.become('connecting');
  }

  private become(kind: LiveState['kind']): void {
    if (this.state.kind === kind) return;
    this.state = { kind, since: Date.now() };
    this.post({ kind: 'state', state: this.state });
  }
}
