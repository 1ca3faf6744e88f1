import { Injectable } from '@nestjs/common';

import { Broadcast } from '../database/broadcast.js';
import type { LiveEvent } from './live-event.js';

type Listener<T> = (value: T) => void;

/** A wake-up signal of one kind. Its values are hints: every listener must read the database. */
export class Topic<T> {
  private readonly listeners = new Set<Listener<T>>();

  constructor(private readonly sendToOthers: Listener<T> = () => undefined) {}

  /** True if this process has listeners. */
  get isHeard(): boolean {
    return this.listeners.size > 0;
  }

  subscribe(listener: Listener<T>): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Wakes the listeners in this process. */
  publish(value: T): void {
    for (const listener of this.listeners) listener(value);
  }

  /** Wakes the listeners in the other processes of this database. */
  publishElsewhere(value: T): void {
    this.sendToOthers(value);
  }

  publishEverywhere(value: T): void {
    this.publish(value);
    this.publishElsewhere(value);
  }
}

/** Wake-up signals between writers and waiters, in this process and, where useful, between processes. */
@Injectable()
export class Signals {
  private readonly shared = new Map<string, Topic<unknown>>();
  private receiving = false;
  private sent = 0;
  /**
   * Whether no other process is known, so signals to others are not sent. A notification costs Postgres as much as a
   * small transaction. A process that has just started may miss some, but it reads the database at its start.
   */
  private isAlone = false;

  /** A generation of a correlation has settled. Published after the commit. */
  readonly correlationSettled: Topic<{ correlationId: string; generation: number }>;
  /** An agent has an execution to claim. Published when a following transaction can see it. */
  readonly executionReady: Topic<string>;
  /**
   * An agent has an execution to claim that is not new: it was retried, taken over or handed back. Published after the
   * commit.
   */
  readonly executionReturned: Topic<string>;
  /** Executions were cancelled; the value has their ids. Published after the commit. */
  readonly executionsCancelled: Topic<readonly string[]>;
  /** An execution will be retried at a time (epoch ms). Published after the commit. */
  readonly retryScheduled: Topic<number>;
  /** A durable timer was set to a time (epoch ms). Published after the commit. */
  readonly timerSet: Topic<number>;
  /**
   * A limit may let executions start that wait for it; the value is its key (`keyText`), or null for all keys. A process
   * without the worker role leaves it to others. Published after the commit.
   */
  readonly limitFreed: Topic<string | null>;
  /** A batch may continue; the value is its position. Published after the commit. */
  readonly batchReady: Topic<number>;
  /** A target has a delivery to claim; the value is its queue. Published when a following transaction can see it. */
  readonly deliveryReady: Topic<string>;
  /**
   * A target has a delivery to claim that is not new: it was sent again by hand, taken over or handed back. The value
   * is its queue. Published after the commit.
   */
  readonly deliveryReturned: Topic<string>;
  /** A delivery will be retried at a time (epoch ms). Published after the commit. */
  readonly deliveryRetryScheduled: Topic<number>;
  /** Artifacts were stored, up to this position. Published after the commit, while any process has open streams. */
  readonly artifactStored: Topic<number>;
  /** A live event. Published after the commit, while any process has streams that want it. */
  readonly liveEvent: Topic<LiveEvent>;
  /** A process has open streams. The value says whether some of them want live events. */
  readonly streamsOpen: Topic<{ live: boolean }>;
  /** A process asks which processes have open streams. */
  readonly whoHasStreams: Topic<null>;
  /** A process has started or ended, so the known agents may have changed. Published after the commit. */
  readonly processesChanged: Topic<null>;
  /**
   * An external worker holds a lease until then (epoch ms), which may expire at that time. Published after the commit.
   */
  readonly leaseDeferred: Topic<number>;
  /** Signals of other processes may have been lost, so every listener must read the database now. */
  readonly resync = new Topic<void>();

  constructor(private readonly broadcast: Broadcast) {
    this.correlationSettled = this.share('settled');
    this.executionReady = this.share('ready');
    this.executionReturned = this.share('returned');
    this.executionsCancelled = this.share('cancelled');
    this.retryScheduled = this.share('retry');
    this.timerSet = this.share('timer');
    this.limitFreed = this.share('limit');
    this.batchReady = this.share('batch');
    this.deliveryReady = this.share('delivery');
    this.deliveryReturned = this.share('redelivery');
    this.deliveryRetryScheduled = this.share('delivery-retry');
    this.artifactStored = this.share('stored');
    this.liveEvent = this.share('live', { each: true });
    this.leaseDeferred = this.share('lease');
    this.streamsOpen = this.share('streams');
    this.whoHasStreams = this.share('who-streams');
    this.processesChanged = this.share('processes', { always: true });
    broadcast.listen((text) => (text === null ? this.resync.publish() : this.receive(text)));
  }

  /** Says whether other processes are known. Signals are sent until this says that there are none. */
  setAlone(isAlone: boolean): void {
    this.isAlone = isAlone;
  }

  /**
   * Shares a topic between processes. Their versions may differ, so a process ignores names that it does not know.
   * Equal signals may be merged into one; with `each` all of them are delivered, as pieces of a text must be. `always`:
   * it is also sent if no other process is known.
   */
  private share<T>(name: string, { each = false, always = false } = {}): Topic<T> {
    const topic = new Topic<T>((value) => {
      if (this.isAlone && !always) return;
      this.sendToOthers(each ? [name, value, (this.sent += 1)] : [name, value]);
    });
    this.shared.set(name, topic as Topic<unknown>);
    return topic;
  }

  // A signal from another process has already reached all processes. Sending it again could make it circulate forever.
  private sendToOthers(message: [name: string, value: unknown, sent?: number]): void {
    if (!this.receiving) this.broadcast.send(JSON.stringify(message));
  }

  private receive(text: string): void {
    const [name, value] = JSON.parse(text) as [string, unknown];
    this.isAlone = false;
    this.receiving = true;
    try {
      this.shared.get(name)?.publish(value);
    } finally {
      this.receiving = false;
    }
  }
}
