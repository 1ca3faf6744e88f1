import { laterTurn, scheduler } from '../../common/scheduler.js';

const PART_SIZE = 500;
/** A scan takes longer than this only while the database is away. */
const LONGEST_REST_MS = 30_000;

/** A part of all keys for which executions wait (`keyText`), and what was used of all limits when the scan began. */
export interface ScannedKeys<Used> {
  keys: string[];
  used: Used;
}

/**
 * Reads all keys for which executions wait, in parts. After a scan it rests for as long as the scan took: with very many
 * keys, other work gets half of the time.
 */
export class KeyScan<Used> {
  /** The scan continues after this key. Null if none runs. */
  private after: string | null = null;
  private used: Used | null = null;
  private isAskedAgain = false;
  private beganAt = 0;
  /** By `scheduler.elapsed()`. */
  private restsUntil = -Infinity;
  /** Whether executions wait, as far as the last scan or another look has shown. */
  areSome = true;

  constructor(
    /** `keys`: the first ones after a key. `used`: is read once for a scan, because very many executions may run. */
    private readonly source: { keys(after: string, limit: number): Promise<string[]>; used(): Promise<Used> },
  ) {}

  get isRunning(): boolean {
    return this.after !== null;
  }

  /** Begins a scan, unless one runs or it rests. */
  begin(): void {
    if (!this.isRunning && scheduler.elapsed() >= this.restsUntil) this.restart();
  }

  /** Begins a scan without a rest. After one that runs, which has read some keys already, another one follows. */
  beginNow(): void {
    if (this.isRunning) this.isAskedAgain = true;
    else this.restart();
  }

  /** The next part of the scan that runs. Null if none runs, or if it has read all. */
  async next(): Promise<ScannedKeys<Used> | null> {
    const { after } = this;
    if (after === null) return null;
    // A database in this process answers in the same turn of the event loop, and nothing else would get one.
    if (after !== '') await laterTurn();
    const keys = await this.source.keys(after, PART_SIZE);
    if (after === '' || keys.length > 0) this.areSome = keys.length > 0;
    const used = keys.length === 0 ? null : (this.used ??= await this.source.used());
    if (keys.length === PART_SIZE) this.after = keys.at(-1)!;
    else this.end();
    return used === null ? null : { keys, used };
  }

  private restart(): void {
    this.after = '';
    this.isAskedAgain = false;
    this.beganAt = scheduler.elapsed();
  }

  private end(): void {
    const now = scheduler.elapsed();
    this.restsUntil = now + Math.min(now - this.beganAt, LONGEST_REST_MS);
    this.after = null;
    this.used = null;
    if (this.isAskedAgain) this.restart();
  }
}
