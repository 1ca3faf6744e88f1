import { type Cancel, Clock } from '../common/clock.js';

interface Alarm {
  time: number;
  callback: () => void;
}

/** A clock that stands still until a test moves it. */
export class ManualClock extends Clock {
  private readonly alarms = new Set<Alarm>();

  constructor(private time = Date.UTC(2026, 10, 20, 10)) {
    super();
  }

  now(): number {
    return this.time;
  }

  at(time: number, callback: () => void): Cancel {
    const alarm = { time, callback };
    this.alarms.add(alarm);
    // An alarm that is already due must not wait for the next move; it is called later, as by the system's clock.
    if (time <= this.time) setImmediate(() => this.ring(alarm));
    return () => void this.alarms.delete(alarm);
  }

  /** Advances the clock, stopping at each alarm on the way. Work that alarms start may still run when this returns. */
  advance(ms: number): void {
    const target = this.time + ms;
    for (let alarm = this.next(target); alarm; alarm = this.next(target)) {
      this.time = Math.max(this.time, alarm.time);
      this.ring(alarm);
    }
    this.time = target;
  }

  private next(until: number): Alarm | undefined {
    return [...this.alarms].filter(({ time }) => time <= until).sort((a, b) => a.time - b.time)[0];
  }

  private ring(alarm: Alarm): void {
    if (this.alarms.delete(alarm)) alarm.callback();
  }
}
