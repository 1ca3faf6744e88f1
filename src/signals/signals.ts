type Listener<T> = (value: T) => void;

/** A wake-up of one kind; carries hints, never truth: whoever wakes looks at the database. */
export class Topic<T> {
  private readonly listeners = new Set<Listener<T>>();

  subscribe(listener: Listener<T>): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  publish(value: T): void {
    for (const listener of this.listeners) listener(value);
  }
}

/** Wake-ups between those who write and those who wait, within this process. */
export class Signals {
  /** An opening of a correlation has settled; published after the commit. */
  readonly correlationSettled = new Topic<{ correlationId: string; opening: number }>();
  /** An agent has an execution to claim; published when a following transaction can see it. */
  readonly executionReady = new Topic<string>();
  /** Executions were cancelled, by their ids; published after the commit. */
  readonly executionsCancelled = new Topic<readonly string[]>();
  /** An execution is to be retried at a time (epoch ms); published after the commit. */
  readonly retryScheduled = new Topic<number>();
  /** A durable timer was set to a time (epoch ms); published after the commit. */
  readonly timerSet = new Topic<number>();
}
