import { get, type GetQuery } from '../../api/requests';
import { countText } from '../../formats';
import type { Entry, LiveEvent } from '../../live/messages';
import { cursorOf, type FeedFilter, matches, type Row, wantsEntries } from './rows';

export const PATH = '/api/v1/changelog/events';

/** The rows that the list keeps. As many more may be held back. */
export const MOST_ROWS = 2_000;

const PAGE = 100;
/** After an interruption, at most this many pages are fetched. If more is missing, the list starts again from the newest entries. */
const MOST_PAGES = 10;
const RETRY_MS = 2_000;

export interface FeedState {
  /** The newest first. */
  rows: readonly Row[];
  /** How many rows came that are not shown yet. */
  held: number;
  error: Error | null;
  isLoading: boolean;
  isLoadingMore: boolean;
  /** Whether older entries can be read. */
  hasMore: boolean;
}

interface Page {
  entries: Entry[];
  /** The position up to which retention has deleted artifacts of this page or of the older ones. */
  deletedUpTo: number | undefined;
  /** The position before which the page began. */
  after: number;
  /** The position before which the next page begins; undefined after the last page. */
  next: number | undefined;
}

export const queryOf = ({ type, agent, correlation_id, before }: FeedFilter): GetQuery<typeof PATH> => ({
  artifact_type: type,
  produced_by: agent,
  correlation_id: correlation_id === '' ? [] : [correlation_id],
  order: 'desc',
  after: before === '' ? undefined : Number(before),
  limit: PAGE,
});

/**
 * The newest entries of the changelog, with the live events among them. Entries come from the live connection, and from
 * the API at the beginning, after an interruption, and when older ones are asked for. By its position, each is in the list
 * once.
 */
export class Feed {
  /** Whether new rows may appear now; otherwise they are held back. */
  mayMove: () => boolean = () => true;

  private state: FeedState = { rows: [], held: 0, error: null, isLoading: true, isLoadingMore: false, hasMore: false };
  private held: Row[] = [];
  private hasDroppedHeld = false;
  private hasBegun = false;
  /** The position up to which all entries are known. */
  private newest = 0;
  /** The position before which older entries can be read. */
  private oldest: number | undefined;
  private saysDeleted = false;
  /** The events that the live connection delivered while entries before them are missing. */
  private later: LiveEvent[] | undefined = [];
  private catching: Promise<void> | undefined;
  private next: { isGap: boolean } | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private keys = 0;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly filter: FeedFilter) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  readonly snapshot = (): FeedState => this.state;

  stop(): void {
    clearTimeout(this.retry);
  }

  /** Takes events of the live connection, in their order. */
  receive(events: readonly LiveEvent[]): void {
    if (this.later) this.later = [...this.later, ...events].slice(-MOST_ROWS);
    else this.add(events);
  }

  /** Fetches the entries that were published since the last known one. `isGap`: live events may be missing here. */
  catchUp(isGap: boolean): Promise<void> {
    clearTimeout(this.retry);
    this.later ??= [];
    if (this.catching) this.next = { isGap: isGap || this.next?.isGap === true };
    this.catching ??= this.fetchMissing(isGap).finally(() => {
      const { next } = this;
      this.catching = this.next = undefined;
      if (next) void this.catchUp(next.isGap);
    });
    return this.catching;
  }

  /** Shows what was held back. */
  release(): void {
    const { held, hasDroppedHeld } = this;
    this.held = [];
    this.hasDroppedHeld = false;
    const rows = hasDroppedHeld ? held : [...held, ...this.state.rows];
    const kept = rows.slice(0, MOST_ROWS);
    if (wantsEntries(this.filter) && (hasDroppedHeld || kept.length < rows.length))
      this.oldest = cursorOf(kept.at(-1)!);
    this.change({ rows: kept });
  }

  loadOlder(): void {
    const from = this.oldest;
    if (this.state.isLoadingMore || !this.state.hasMore || from === undefined) return;
    this.change({ isLoadingMore: true });
    this.page(from).then(
      (page) => {
        this.change({ isLoadingMore: false });
        // Meanwhile, new rows may have taken the place of the oldest ones.
        if (this.oldest !== from) return;
        this.oldest = page.next;
        this.change({ rows: [...this.state.rows, ...this.rowsOf(page)].slice(0, MOST_ROWS) });
      },
      (error: Error) => this.change({ error, isLoadingMore: false }),
    );
  }

  private async fetchMissing(isGap: boolean): Promise<void> {
    try {
      await this.fetch(isGap);
    } catch (error) {
      this.change({ error: error as Error, isLoading: false });
      // Events that arrive until then are kept.
      if (this.hasBegun) this.retry = setTimeout(() => void this.catchUp(isGap), RETRY_MS);
      return;
    }
    const events = this.later ?? [];
    this.later = undefined;
    this.change({ error: null, isLoading: false });
    this.add(events);
  }

  private async fetch(isGap: boolean): Promise<void> {
    const { before } = this.filter;
    if (!wantsEntries(this.filter)) {
      if (isGap && this.hasBegun) this.take([this.gapNote(this.newest, '')]);
      this.hasBegun = true;
      return;
    }
    const page = await this.page(before === '' ? undefined : Number(before));
    // Positions begin again where a backup was restored.
    if (this.hasBegun && page.after > this.newest) await this.addMissing(page, isGap);
    else this.begin(page);
  }

  private begin(page: Page): void {
    this.hasBegun = true;
    this.newest = page.after - 1;
    this.oldest = page.next;
    this.held = [];
    this.change({ rows: this.rowsOf(page) });
  }

  private async addMissing(first: Page, isGap: boolean): Promise<void> {
    const since = this.newest;
    const missing: Row[] = [];
    let page = first;
    let pages = 0;
    for (; ; page = await this.page(page.next)) {
      missing.push(...this.rowsOf(page).filter(({ seq }) => seq > since));
      pages += 1;
      if (page.next === undefined || page.next <= since || pages === MOST_PAGES) break;
    }
    this.newest = first.after - 1;
    if (page.next !== undefined && page.next > since) {
      // The rows from before would have a hole above them.
      this.held = [];
      this.oldest = page.next;
      this.change({ rows: [...missing, this.gapNote(since, '')] });
      return;
    }
    const found = missing.length === 0 ? '' : `; ${countText(missing.length, 'entry', 'entries')} fetched`;
    const isSaid = missing.length === 0 && 'note' in ([...this.held, ...this.state.rows][0] ?? {});
    this.take(isGap && !isSaid ? [...missing, this.gapNote(since, found)] : missing);
  }

  private async page(after: number | undefined): Promise<Page> {
    const { items, pagination } = await get(PATH, { query: { ...queryOf(this.filter), after } });
    return {
      entries: items.filter((item) => item.event_type === 'artifact_published') as Entry[],
      deletedUpTo: items.flatMap((item) => (item.event_type === 'gap' ? [item.to_seq] : []))[0],
      after: pagination.after,
      next: pagination.has_more ? pagination.next : undefined,
    };
  }

  private rowsOf({ entries, deletedUpTo }: Page): Row[] {
    const rows = entries.map((entry): Row => ({ key: `entry ${entry.seq}`, seq: entry.seq, entry }));
    if (deletedUpTo === undefined || this.saysDeleted) return rows;
    this.saysDeleted = true;
    const place = rows.findIndex(({ seq }) => seq <= deletedUpTo);
    const note: Row = {
      key: 'deleted',
      seq: deletedUpTo,
      note: 'Some artifacts below are deleted',
      about: `Retention has deleted artifacts up to position ${deletedUpTo}`,
    };
    return rows.toSpliced(place < 0 ? rows.length : place, 0, note);
  }

  private gapNote(since: number, found: string): Row {
    return {
      key: `note ${(this.keys += 1)}`,
      seq: since,
      note: `Live events may be missing here${found}`,
      about:
        'The connection was interrupted, this tab was hidden, or too many events arrived together. Entries are then ' +
        'fetched again, but live events are not stored.',
    };
  }

  private add(events: readonly LiveEvent[]): void {
    const rows: Row[] = [];
    for (const event of events) {
      const isEntry = event.event_type === 'artifact_published';
      if (isEntry && event.seq <= this.newest) continue;
      if (isEntry) this.newest = event.seq;
      if (!matches(event, this.filter)) continue;
      if (isEntry) rows.unshift({ key: `entry ${event.seq}`, seq: event.seq, entry: event });
      else rows.unshift({ key: `event ${(this.keys += 1)}`, seq: this.newest, event });
    }
    this.take(rows);
  }

  /** Adds rows above all others, the newest first. */
  private take(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    this.held = [...rows, ...this.held];
    this.hasDroppedHeld ||= this.held.length > MOST_ROWS;
    this.held = this.held.slice(0, MOST_ROWS);
    if (this.mayMove()) this.release();
    else this.change({});
  }

  private change(change: Partial<Omit<FeedState, 'held' | 'hasMore'>>): void {
    const state = { ...this.state, ...change };
    this.state = {
      ...state,
      held: this.held.filter((row) => !('note' in row)).length,
      hasMore: this.oldest !== undefined && state.error === null && state.rows.length < MOST_ROWS,
    };
    for (const listener of this.listeners) listener();
  }
}
