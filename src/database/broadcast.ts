/**
 * Short texts between the processes that share a database. They are hints: a text may be lost or arrive twice, so each
 * reader also reads the database every few seconds.
 */
export abstract class Broadcast {
  /** Sends a text to the other processes soon. Never throws, and the caller does not wait. */
  abstract send(text: string): void;

  /** `listener` gets the texts of other processes, or null if some may have been lost. */
  abstract listen(listener: (text: string | null) => void): void;

  abstract close(): Promise<void>;
}

/** For a database that only one process uses. */
export class NoBroadcast extends Broadcast {
  send(): void {
    // There is no other process.
  }

  listen(): void {
    // There is no other process.
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
