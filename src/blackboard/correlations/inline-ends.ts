import type { Transaction } from '../../database/unit-of-work.js';
import type { Span } from '../../observability/tracing/tracing.js';

/** An execution that ends in the transaction that adds it. */
export interface InlineEnd {
  correlationId: string;
  span: Span;
  /** Stores the end. It runs after the hooks of new artifacts, and before correlations settle. */
  record(): Promise<void>;
  /** Reports the end after the commit. */
  report(): void;
}

/** The executions that end in the transaction that adds them. */
export class InlineEnds {
  private readonly ends: InlineEnd[] = [];

  constructor(private readonly tx: Transaction) {}

  add(end: InlineEnd): void {
    this.ends.push(end);
  }

  async record(): Promise<void> {
    for (const { record } of this.ends) await record();
  }

  reportAfterCommit(): void {
    for (const { report } of this.ends) this.tx.afterCommit(report);
  }

  /** The span of the last one in the correlation, if there is one. */
  lastSpan(correlationId: string): Span | undefined {
    return this.ends.findLast((end) => end.correlationId === correlationId)?.span;
  }
}
