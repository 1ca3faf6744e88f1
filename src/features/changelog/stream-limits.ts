import type { IncomingMessage } from 'node:http';

import { Injectable } from '@nestjs/common';

import { DomainError } from '../../common/domain-error.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { Telemetry } from '../../common/telemetry.js';
import { Settings } from '../../config/settings.js';
import { clientAddresses } from '../../http/connections/client-address.js';

const RETRY_AFTER_SECONDS = 5;

/** Limits the number of streams, in total and for each address. */
@Injectable()
export class StreamLimits {
  private open = 0;
  private readonly byAddress = new Map<string, number>();
  private readonly addressOf: ReturnType<typeof clientAddresses>;

  constructor(
    private readonly settings: Settings,
    private readonly lifecycle: Lifecycle,
    private readonly telemetry: Telemetry,
  ) {
    this.addressOf = clientAddresses(settings.trustedProxies);
  }

  /**
   * Reserves a place. The returned function frees it and is idempotent. Throws DomainError `unavailable` if no place
   * is free.
   */
  admit(request: IncomingMessage): () => void {
    const { maxStreams, maxStreamsPerAddress } = this.settings;
    const address = this.addressOf(request);
    const ofAddress = this.byAddress.get(address) ?? 0;
    if (this.lifecycle.stopping) throw stopping();
    if (this.open >= maxStreams)
      throw unavailable(`${maxStreams} streams are open; close some, try again later, or raise max_streams`);
    if (ofAddress >= maxStreamsPerAddress) {
      throw unavailable(
        `${maxStreamsPerAddress} streams are open from ${address}; close some, or raise max_streams_per_address`,
      );
    }
    this.count(address, 1);
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      this.count(address, -1);
    };
  }

  private count(address: string, change: 1 | -1): void {
    this.open += change;
    const ofAddress = (this.byAddress.get(address) ?? 0) + change;
    if (ofAddress === 0) this.byAddress.delete(address);
    else this.byAddress.set(address, ofAddress);
    this.telemetry.streamsOpen(this.open);
  }
}

export const stopping = (): DomainError => unavailable('The service is stopping; connect again in a moment');

const unavailable = (message: string): DomainError =>
  new DomainError('unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });

/** Limits the number of concurrent calls, serves them in order, and yields to other work in between. */
export class ReadLimiter {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      const result = await work();
      // node:sqlite is synchronous, so awaiting a query does not let other work run.
      await yieldToEventLoop();
      return result;
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free += 1;
    }
  }
}
