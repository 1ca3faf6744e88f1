import { appendFileSync } from 'node:fs';

import type { Entry, OperationName } from '../../history/entry.js';

/** An operation that was begun. One of its ends must be called, once. */
export interface Recorded {
  ok(answer: unknown): void;
  /** It certainly had no effect. */
  fail(): void;
  /** It is not known whether it had an effect. */
  info(): void;
}

/** Processes of different kinds have different names, which makes a history easier to read. */
const KIND_OF_PROCESS: Partial<Record<OperationName, string>> = {
  read: 'reader',
  look: 'observer',
  execute: 'executor',
  configure: 'observer',
  end: 'observer',
};

/** Writes a history in the format of `test/history/entry.ts`; without a file, none. */
export class HistoryRecorder {
  private readonly free = new Map<string, string[]>();
  private readonly counts = new Map<string, number>();

  constructor(readonly file: string | null) {}

  begin(operation: OperationName, key: string, value?: unknown): Recorded {
    const process = this.takeProcess(KIND_OF_PROCESS[operation] ?? 'client');
    this.write({ time: Date.now(), process, type: 'invoke', operation, key, value });
    const end = (type: Entry['type'], answer?: unknown): void =>
      this.write({ time: Date.now(), process, type, operation, key, value: answer });
    return {
      ok: (answer) => {
        end('ok', answer);
        this.giveBack(process);
      },
      fail: () => {
        end('fail');
        this.giveBack(process);
      },
      info: () => end('info'),
    };
  }

  /** Records an operation that has ended. */
  add(
    operation: OperationName,
    key: string,
    times: { begin: number; end: number },
    asked: unknown,
    ended: Ended,
  ): void {
    const process = this.takeProcess(KIND_OF_PROCESS[operation] ?? 'client');
    this.write({ time: times.begin, process, type: 'invoke', operation, key, value: asked });
    this.write({ time: times.end, process, type: ended.type, operation, key, value: ended.answer });
  }

  private takeProcess(kind: string): string {
    const free = this.free.get(kind)?.pop();
    if (free !== undefined) return free;
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    return `${kind} ${count}`;
  }

  private giveBack(process: string): void {
    const kind = process.split(' ')[0]!;
    this.free.set(kind, [...(this.free.get(kind) ?? []), process]);
  }

  private write(entry: Entry): void {
    if (this.file !== null) appendFileSync(this.file, `${JSON.stringify(entry)}\n`);
  }
}

export type Ended = { type: 'ok' | 'fail' | 'info'; answer?: unknown };
