/** A payload is in memory three times: as it was read, in the body, and encoded for the connection. */
const COPIES = 3;

/** Frees the taken memory. */
export type GiveBack = () => void;

interface Waiting {
  host: string;
  bytes: number;
  begin: (giveBack: GiveBack) => void;
}

/**
 * The memory for large payloads that are being sent. It is separate from the budget for requests, so that neither waits
 * for the other; a delivery without room waits instead of failing. A host never gets more than is then still free, so
 * that a slow host cannot take everything. Deliveries are served in the order of their waiting. A payload that is
 * larger than the whole memory is sent alone.
 */
export class DeliveryMemory {
  private readonly waiting = new Set<Waiting>();
  private readonly usedBy = new Map<string, number>();
  private used = 0;

  constructor(private readonly limitBytes: number) {}

  /** Resolves when there is room for the payload. Rejects with the signal's reason. */
  async take(host: string, payloadBytes: number, signal: AbortSignal): Promise<GiveBack> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<GiveBack>();
    const waiting = { host, bytes: Math.min(COPIES * payloadBytes, this.limitBytes), begin: resolve };
    this.waiting.add(waiting);
    const giveUp = (): void => {
      this.waiting.delete(waiting);
      reject(signal.reason as Error);
      this.beginSome();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    this.beginSome();
    return promise.finally(() => signal.removeEventListener('abort', giveUp));
  }

  private beginSome(): void {
    for (const waiting of this.waiting) {
      const { host, bytes } = waiting;
      const free = this.limitBytes - this.used;
      const usedByHost = this.usedBy.get(host) ?? 0;
      if (usedByHost > 0 && usedByHost + bytes > free) continue;
      // No later one may overtake, because a large payload would otherwise starve while smaller ones arrive.
      if (bytes > free) return;
      this.waiting.delete(waiting);
      this.change(host, bytes);
      waiting.begin(() => {
        this.change(host, -bytes);
        this.beginSome();
      });
    }
  }

  private change(host: string, bytes: number): void {
    this.used += bytes;
    const usedByHost = (this.usedBy.get(host) ?? 0) + bytes;
    if (usedByHost > 0) this.usedBy.set(host, usedByHost);
    else this.usedBy.delete(host);
  }
}
