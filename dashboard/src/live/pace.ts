/** Up to this many events a second, each is followed immediately. */
const FEW_EVENTS = 20;

/** The view shows nothing older than this, however many events come. */
const LONGEST_MS = 10_000;

/** More events than a few have ended when none has come for this long. */
const QUIET_MS = 1_000;

/**
 * Says when to ask the service again after events. Many events a second are followed less often, until they end: otherwise
 * each open tab would ask a busy service for everything that it shows several times a second. Times are in ms.
 */
class Pace {
  private events = 0;
  private lastEventAt = 0;
  private askedAt = -Infinity;

  /** The least time between two requests. */
  everyMs = 0;

  happened(events: number, now: number): void {
    this.events += events;
    this.lastEventAt = now;
  }

  /** Call this with each request. */
  asked(now: number): void {
    this.events = 0;
    this.askedAt = now;
  }

  /** How long to wait before asking, or before calling this again. */
  wait(now: number): number {
    const perSecond = (this.events * 1_000) / Math.max(now - this.askedAt, 1_000);
    const factor = Math.max(1, perSecond / FEW_EVENTS);
    const earliest = this.askedAt + this.everyMs;
    const latest = this.askedAt + Math.max(this.everyMs, Math.min(LONGEST_MS, this.everyMs * factor));
    const quiet = factor > 1 ? this.lastEventAt + QUIET_MS : earliest;
    return Math.max(0, Math.min(latest, Math.max(earliest, quiet)) - now);
  }
}

/** Calls `run` after events, at the pace of their number and never twice at the same time. */
export class PacedRun {
  private readonly pace = new Pace();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isRunning = false;
  /** Events came while it ran, and their time has come. */
  private isMissed = false;

  constructor(
    everyMs: number,
    private readonly run: () => unknown,
  ) {
    this.every(everyMs);
  }

  /** Changes the least time between two runs. A run that is due stays due. */
  every(ms: number): void {
    this.pace.everyMs = ms;
  }

  /** `run` is called for these events, soon or later. */
  readonly happened = (events: number): void => {
    this.pace.happened(events, Date.now());
    this.schedule();
  };

  /** Call this if the caller has done what `run` does. */
  readonly done = (): void => {
    this.pace.asked(Date.now());
    clearTimeout(this.timer);
    this.timer = undefined;
  };

  private schedule(): void {
    this.timer ??= setTimeout(() => void this.look(), this.pace.wait(Date.now()));
  }

  private async look(): Promise<void> {
    this.timer = undefined;
    if (this.isRunning) this.isMissed = true;
    else if (this.pace.wait(Date.now()) > 0) this.schedule();
    else await this.runNow();
  }

  private async runNow(): Promise<void> {
    this.pace.asked(Date.now());
    this.isRunning = true;
    this.isMissed = false;
    try {
      await this.run();
    } finally {
      this.isRunning = false;
      if (this.isMissed) this.schedule();
    }
  }
}
