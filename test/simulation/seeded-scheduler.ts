import { createHash, type Hash } from 'node:crypto';

import type { Cancel, Scheduler } from '../../src/common/scheduler.js';
import type { Random } from '../support/random.js';

interface Entry {
  /** Milliseconds of `elapsed`. */
  due: number;
  callback: () => void;
  /** Set for an interval, which is due again after these milliseconds. */
  every: number | null;
}

/** 2026-11-24T09:00:00Z. */
const BEGIN = Date.UTC(2026, 10, 24, 9);

/** The longest time that passes while the code between two reads of the time runs. */
const LONGEST_STEP_MS = 3;

/** The time of the simulated machine. It outlives the crashes of the service. */
export interface MachineTime {
  elapsed: number;
  /** Milliseconds by which the machine's clock was set forward since the beginning; negative if it was set back. */
  set: number;
}

/** Time, turns and timers as a seed decides them. Everything that is due may be next, in any order. */
export class SeededScheduler implements Scheduler {
  private entries: Entry[] = [];
  /** Milliseconds that have passed while nothing was late. */
  calm = 0;
  private stopped = false;

  constructor(
    private readonly random: Random,
    private readonly machine: MachineTime,
    private readonly trace: Trace,
  ) {}

  time(): number {
    return BEGIN + Math.floor(this.elapsed()) + this.machine.set;
  }

  elapsed(): number {
    if (this.random.next() < 0.1) this.machine.elapsed += this.random.next() * LONGEST_STEP_MS;
    return this.machine.elapsed;
  }

  later(callback: () => void): void {
    this.add(0, callback);
  }

  after(ms: number, callback: () => void): Cancel {
    const entry = this.add(ms, callback);
    return () => this.remove(entry);
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.add(ms, resolve));
  }

  every(ms: number, callback: () => void): void {
    this.add(ms, callback, ms);
  }

  /** Makes what is due next happen, after letting time pass until then if needed. Returns false at `until`. */
  step(until: number): boolean {
    let due = this.due();
    if (due.length === 0) {
      const first = this.firstTime();
      const next = this.nextTime(first, until);
      this.calm += Math.max(0, Math.min(first, next, until) - this.machine.elapsed);
      if (next > until) {
        this.machine.elapsed = Math.max(this.machine.elapsed, until);
        return false;
      }
      this.machine.elapsed = next;
      due = this.due();
    }
    this.perform(due[this.random.between(0, due.length - 1)]!, due.length);
    return true;
  }

  /** Makes what was due first happen, if anything is due; no time passes. */
  stepInOrder(): void {
    const [first] = this.due();
    if (first) this.perform(first, 0);
  }

  /** Drops everything that would happen. */
  crash(): void {
    this.stopped = true;
    this.entries = [];
  }

  private firstTime(): number {
    return Math.min(...this.entries.map(({ due }) => due));
  }

  /** When something happens next. Intervals are often late, as on a busy machine; otherwise most turns would be theirs. */
  private nextTime(first: number, until: number): number {
    if (this.random.next() < 0.2) return first;
    const other = Math.min(...this.entries.filter(({ every }) => every === null).map(({ due }) => due), until);
    return Number.isFinite(other) ? Math.max(first, other) : first;
  }

  private due(): Entry[] {
    return this.entries.filter(({ due }) => due <= this.machine.elapsed);
  }

  private perform(entry: Entry, among: number): void {
    this.trace.add(`${among} ${this.entries.indexOf(entry)} ${this.machine.elapsed}`);
    // After a long jump an interval is due once, as on a machine that was suspended.
    if (entry.every === null) this.remove(entry);
    else entry.due = this.machine.elapsed + entry.every;
    entry.callback();
  }

  private add(ms: number, callback: () => void, every: number | null = null): Entry {
    const entry = { due: this.machine.elapsed + Math.max(ms, 0), callback, every };
    if (!this.stopped) this.entries.push(entry);
    return entry;
  }

  private remove(entry: Entry): void {
    const index = this.entries.indexOf(entry);
    if (index >= 0) this.entries.splice(index, 1);
  }
}

/** Everything that happened, as a hash: a seed that is run twice must have the same one. */
export class Trace {
  private readonly hash: Hash = createHash('sha256');
  /** How many lines it has. */
  length = 0;

  add(line: string): void {
    this.length += 1;
    this.hash.update(`${line}\n`);
    if (process.env.STARLING_SIMULATION_TRACE) process.stderr.write(`${line}\n`);
  }

  digest(): string {
    return this.hash.copy().digest('hex').slice(0, 16);
  }
}
