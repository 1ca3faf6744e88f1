/**
 * Short texts between the processes that share a database: hints, never truth. They may be lost, and come twice; whoever needs
 * one looks at the database every few seconds too.
 */
export abstract class Broadcast {
  /** Sends to the other processes, soon. Never throws, and is not waited for. */
  abstract send(text: string): void;

  /** `listener` gets what other processes have sent; null where some may have been lost. */
  abstract listen(listener: (text: string | null) => void): void;

  abstract close(): Promise<void>;
}

/** One process alone has no others to notify. */
export class NoBroadcast extends Broadcast {
  send(): void {
    // Nobody is there.
  }

  listen(): void {
    // Nobody is there.
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
