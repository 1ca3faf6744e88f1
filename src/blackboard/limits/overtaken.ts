import { inOrder, type Ordered } from '../../queue/queue.js';
import { keyText, parseKeys } from './key-texts.js';
import type { RunningRow } from './limit-rows.js';

/** Finds out which running executions have got ahead of those that wait. */
export class Overtaken {
  /** Key (`keyText`) → the last of the running executions, in the order in which those that wait would start. */
  private lastOfKeys: Map<string, Ordered> | null = null;

  constructor(private readonly running: readonly RunningRow[]) {}

  /** Whether an execution runs with this key that comes after this one. */
  by(text: string, waiting: Ordered): boolean {
    const last = (this.lastOfKeys ??= this.findLast()).get(text);
    return last !== undefined && inOrder(last, waiting) > 0;
  }

  private findLast(): Map<string, Ordered> {
    const found = new Map<string, Ordered>();
    for (const row of [...this.running].sort(inOrder))
      for (const key of parseKeys(row.limit_keys)) found.set(keyText(key), row);
    return found;
  }
}
