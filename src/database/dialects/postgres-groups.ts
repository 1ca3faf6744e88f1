import { laterTurn } from '../../common/scheduler.js';
import type { Transaction } from '../unit-of-work.js';

export type Work<T> = (tx: Transaction) => Promise<T>;

interface Waiting {
  key: string;
  work: Work<unknown>;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
}

interface Kind {
  waiting: Waiting[];
  isRunning: boolean;
  /** How many of the next transactions run alone. */
  alone: number;
}

const MOST_IN_GROUP = 64;
/** A transaction that fails is often followed by others that fail, and each of them would repeat the work of its group. */
const ALONE_AFTER_FAILURE = 100;

/**
 * Runs transactions of the same kind together. A group takes all that have come since the last one began, so a
 * transaction that comes alone runs immediately.
 */
export class PostgresGroups {
  private readonly kinds = new Map<string, Kind>();

  /** `runTogether` returns null if nothing was written and each of them can run alone. */
  constructor(
    private readonly runAlone: (work: Work<unknown>) => Promise<unknown>,
    private readonly runTogether: (works: readonly Work<unknown>[]) => Promise<unknown[] | null>,
  ) {}

  run<T>(work: Work<T>, { kind: name, key }: { kind: string; key: string }): Promise<T> {
    let kind = this.kinds.get(name);
    if (!kind) this.kinds.set(name, (kind = { waiting: [], isRunning: false, alone: 0 }));
    if (kind.alone > 0) {
      kind.alone -= 1;
      return this.runAlone(work) as Promise<T>;
    }
    return new Promise<T>((resolve, reject) => {
      kind.waiting.push({ key, work, resolve, reject });
      if (!kind.isRunning) void this.drain(kind);
    });
  }

  private async drain(kind: Kind): Promise<void> {
    kind.isRunning = true;
    while (kind.waiting.length > 0) {
      // A transaction that comes in the same turn of the event loop joins this group.
      await laterTurn();
      await this.runGroup(kind, takeGroup(kind.waiting));
    }
    kind.isRunning = false;
  }

  private async runGroup(kind: Kind, group: readonly Waiting[]): Promise<void> {
    if (group.length === 1) return this.runEach(group);
    try {
      const values = await this.runTogether(group.map(({ work }) => work));
      if (values) return group.forEach(({ resolve }, index) => resolve(values[index] as never));
      kind.alone = ALONE_AFTER_FAILURE;
      await this.runEach(group);
    } catch (error) {
      group.forEach(({ reject }) => reject(error));
    }
  }

  private async runEach(group: readonly Waiting[]): Promise<void> {
    await Promise.all(group.map(({ work, resolve, reject }) => this.runAlone(work).then(resolve as never, reject)));
  }
}

/** Takes the first transactions with different keys. */
function takeGroup(waiting: Waiting[]): Waiting[] {
  const keys = new Set<string>();
  const group: Waiting[] = [];
  const left: Waiting[] = [];
  for (const each of waiting) {
    const fits = group.length < MOST_IN_GROUP && !keys.has(each.key);
    (fits ? group : left).push(each);
    keys.add(each.key);
  }
  waiting.splice(0, waiting.length, ...left);
  return group;
}
