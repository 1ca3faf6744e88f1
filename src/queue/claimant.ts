import type { Transaction } from '../database/unit-of-work.js';
import type { Topic } from '../pubsub/signals.js';
import type { Lease } from './lease.js';
import type { FreeSlots } from './slots.js';

/** The work that was started for a claim. */
export interface StartedRun {
  /** Resolves when the outcome is committed or another process has the claim. Never rejects. */
  committed: Promise<void>;
  /** Resolves when the started work has returned. Never rejects. */
  returned: Promise<void>;
  /**
   * Set if the work has not begun: it waits for what it needs until this resolves, and its slot is free meanwhile.
   * Never rejects.
   */
  waiting?: Promise<void>;
  /**
   * Stores what is known about the work when its claim was handed back and another process commits its outcome. Never
   * rejects.
   */
  handedBack?: () => Promise<void>;
}

export type FreeSlotIn = (tx: Transaction) => void;

/** Tells running work about its claim. */
export interface ClaimHolder {
  /** Returns false once the claim was handed back: another process then commits the outcome. */
  isOurs: () => boolean;
  /**
   * Call this in each transaction that stores the outcome: the slot becomes free when later transactions see the outcome, and
   * is taken again if the transaction is rolled back after that.
   */
  freeSlotIn: FreeSlotIn;
}

/** The rows that a loop claims, and how it runs them. */
export interface Claimant<Claimed> {
  /** Plural name of the claimed items, for log lines. */
  name: string;
  /**
   * True if the limit of this queue also counts rows that other processes run. The process that frees a slot then looks
   * for rows that were found when no slot was free.
   */
  isLimitShared(queue: string): boolean;
  queueOf(claimed: Claimed): string;
  /** The queues in which rows may wait. */
  queues(): Iterable<string> | Promise<Iterable<string>>;
  claim(
    tx: Transaction,
    slots: FreeSlots,
    lease: Lease,
  ): Promise<{ claimed: Claimed[]; moreWaiting: string[]; emptied: string[]; missed: boolean }>;
  start(claimed: Claimed, abort: AbortController, holder: ClaimHolder): StartedRun;
}

/** The signals that wake the loop of a table. */
export interface ClaimTopics {
  ready: Topic<string>;
  returned: Topic<string>;
  retryScheduled: Topic<number>;
  resync: Topic<void>;
}
