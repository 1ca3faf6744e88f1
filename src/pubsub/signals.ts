import { Injectable } from '@nestjs/common';
import { Broadcast } from '../database/broadcast.js';
import type { LiveEvent } from './live-event.js';

type Listener<T> = (value: T) => void;

/** A wake-up of one kind; carries hints, never truth: whoever wakes looks at the database. */
export class Topic<T> {
  private readonly listeners = new Set<Listener<T>>();

  constructor(private readonly sendToOthers: Listener<T> = () => undefined) {}

  /** Whether anybody in this process would be woken. */
  get isHeard(): boolean {
    return this.listeners.size > 0;
  }

  subscribe(listener: Listener<T>): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Wakes those in this process. */
  publish(value: T): void {
    for (const listener of this.listeners) listener(value);
  }

  /** Wakes those in the other processes that share the database. */
  publishElsewhere(value: T): void {
    this.sendToOthers(value);
  }

  publishEverywhere(value: T): void {
    this.publish(value);
    this.publishElsewhere(value);
  }
}

/** Wake-ups between those who write and those who wait: in this process, and where it helps in the others too. */
@Injectable()
export class Signals {
  private readonly shared = new Map<string, Topic<unknown>>();
  private receiving = false;
  private sent = 0;

  /** A generation of a correlation has settled; published after the commit. */
  readonly correlationSettled: Topic<{ correlationId: string; generation: number }>;
  /** An agent has an execution to claim; published when a following transaction can see it. */
  readonly executionReady: Topic<string>;
  /** An agent has an execution to claim that is not new: retried, taken over or handed back; published after the commit. */
  readonly executionReturned: Topic<string>;
  /** Executions were cancelled, by their ids; published after the commit. */
  readonly executionsCancelled: Topic<readonly string[]>;
  /** An execution is to be retried at a time (epoch ms); published after the commit. */
  readonly retryScheduled: Topic<number>;
  /** A durable timer was set to a time (epoch ms); published after the commit. */
  readonly timerSet: Topic<number>;
  /** A batch may be moved on, by its position; published after the commit. */
  readonly batchReady: Topic<number>;
  /** A target has a delivery to claim, by its queue; published when a following transaction can see it. */
  readonly deliveryReady: Topic<string>;
  /** A target has a delivery to claim, by its queue, that is not new: sent again by hand, taken over or handed back; published after the commit. */
  readonly deliveryReturned: Topic<string>;
  /** A delivery is to be tried again at a time (epoch ms); published after the commit. */
  readonly deliveryRetryScheduled: Topic<number>;
  /** Artifacts were stored, up to this position; published after the commit, while streams are open somewhere. */
  readonly artifactStored: Topic<number>;
  /** What streams show besides artifacts; published after the commit, while streams ask for it somewhere. */
  readonly liveEvent: Topic<LiveEvent>;
  /** A process has streams open, and whether some of them ask for live events. */
  readonly streamsOpen: Topic<{ live: boolean }>;
  /** A process does not know who has streams open. */
  readonly whoHasStreams: Topic<null>;
  /** A process has come or left, so that other agents may be known; published after the commit. */
  readonly processesChanged: Topic<null>;
  /** A lease was left to somebody outside until then (epoch ms), and may end with its time; published after the commit. */
  readonly leaseDeferred = new Topic<number>();
  /** Wake-ups of other processes may have been lost: whoever waits for one looks now. */
  readonly resync = new Topic<void>();

  constructor(private readonly broadcast: Broadcast) {
    this.correlationSettled = this.share('settled');
    this.executionReady = this.share('ready');
    this.executionReturned = this.share('returned');
    this.executionsCancelled = this.share('cancelled');
    this.retryScheduled = this.share('retry');
    this.timerSet = this.share('timer');
    this.batchReady = this.share('batch');
    this.deliveryReady = this.share('delivery');
    this.deliveryReturned = this.share('redelivery');
    this.deliveryRetryScheduled = this.share('delivery-retry');
    this.artifactStored = this.share('stored');
    this.liveEvent = this.share('live', { each: true });
    this.streamsOpen = this.share('streams');
    this.whoHasStreams = this.share('who-streams');
    this.processesChanged = this.share('processes');
    broadcast.listen((text) => (text === null ? this.resync.publish() : this.receive(text)));
  }

  /**
   * `name`: between processes, whose versions may differ; what one does not know it leaves alone. Of wake-ups that say the same one is
   * enough; `each`: what is sent twice counts twice, as pieces of a text do.
   */
  private share<T>(name: string, { each = false } = {}): Topic<T> {
    const topic = new Topic<T>((value) => this.sendToOthers(each ? [name, value, (this.sent += 1)] : [name, value]));
    this.shared.set(name, topic as Topic<unknown>);
    return topic;
  }

  // All have got what came from elsewhere: those who cannot use it would hand it to each other for ever.
  private sendToOthers(message: [name: string, value: unknown, sent?: number]): void {
    if (!this.receiving) this.broadcast.send(JSON.stringify(message));
  }

  private receive(text: string): void {
    const [name, value] = JSON.parse(text) as [string, unknown];
    this.receiving = true;
    try {
      this.shared.get(name)?.publish(value);
    } finally {
      this.receiving = false;
    }
  }
}
